// why: a producer arrives and a consumer waits at a barrier of 64 threads; the next batch is written behind a second one
// buffer: x in f32 32 noise
// buffer: y out f32 32
// launch: hand_over grid=1 block=96 args=x,y
// expect: pass
// broken: reject race.shared
extern "C" __global__ void hand_over(const float *x, float *y) {
   __shared__ float s[32];
   int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (warp == 0) {
      s[lane] = x[lane];
#ifndef BROKEN
      asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
   } else if (warp == 1) {
#ifndef BROKEN
      asm volatile("bar.sync 1, 64;" ::: "memory");
#endif
      y[lane] = s[31 - lane];
   }
}
