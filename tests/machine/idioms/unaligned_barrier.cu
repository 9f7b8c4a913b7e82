// why: barrier.sync may be reached by the lanes of a warp one after the other, bar.sync may not
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: unaligned grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.barrier
#ifndef BROKEN
#define WAIT "barrier.sync 1;"
#else
#define WAIT "bar.sync 1;"
#endif
extern "C" __global__ void unaligned(const float *x, float *y) {
   __shared__ float s[64];
   int t = threadIdx.x;
   if (t % 32 < 7) {
      s[t] = x[t];
      asm volatile(WAIT ::: "memory");
   } else {
      s[t] = 2 * x[t];
      asm volatile(WAIT ::: "memory");
   }
   y[t] = s[63 - t];
}
