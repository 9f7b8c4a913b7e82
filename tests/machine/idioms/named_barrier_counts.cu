// why: all who come to a barrier must name the same count
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: counts grid=1 block=128 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void counts(const float *x, float *y) {
   __shared__ float s[128];
   int t = threadIdx.x;
   s[t] = x[t];
#ifdef BROKEN
   asm volatile("bar.sync 1, %0;" ::"r"(t < 64 ? 128 : 96) : "memory");
#else
   asm volatile("bar.sync 1, %0;" ::"r"(128) : "memory");
#endif
   y[t] = s[127 - t];
}
