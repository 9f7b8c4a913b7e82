// why: an assertion that holds costs a branch; one that fails stops the launch
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: checked grid=2 block=32 args=x,y
// expect: pass
// broken: reject plan.trap
extern "C" __device__ void __assertfail(const char *condition, const char *file, unsigned line, const char *function, size_t bytes);

extern "C" __global__ void checked(const float *x, float *y) {
   const int i = blockIdx.x * 32 + threadIdx.x;
#ifdef BROKEN
   if (i == 37)
#else
   if (i >= 64)
#endif
      __assertfail("i < 64", "assertion.cu", 12, "checked", 1);
   y[i] = x[i];
}
