// why: pairs of warps exchange rows over a barrier of 64 threads each; a barrier of 64 that all four warps use orders whichever two come first
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: exchange grid=1 block=128 args=x,y
// expect: pass
// broken: reject sync.barrier
extern "C" __global__ void exchange(const float *x, float *y) {
   __shared__ float s[128];
   int t = threadIdx.x;
   s[t] = x[t];
#ifdef BROKEN
   asm volatile("bar.sync 1, 64;" ::: "memory");
#else
   asm volatile("bar.sync %0, 64;" ::"r"(1 + t / 64) : "memory");
#endif
   y[t] = s[t ^ 32];
}
