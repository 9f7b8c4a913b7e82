// why: a call through a pointer is not executed; a choice between two calls is
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: chosen grid=2 block=32 args=x,y
// expect: pass
// broken: unknown unsupported.function_pointer
__device__ __noinline__ float once(float v) {
   return v + 1.0f;
}
__device__ __noinline__ float twice(float v) {
   return v + 2.0f;
}

extern "C" __global__ void chosen(const float *x, float *y) {
   const int i = blockIdx.x * 32 + threadIdx.x;
#ifdef BROKEN
   float (*const table[2])(float) = {once, twice};
   y[i] = table[x[i] > 0.0f](x[i]);
#else
   y[i] = x[i] > 0.0f ? twice(x[i]) : once(x[i]);
#endif
}
