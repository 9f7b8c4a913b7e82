// why: each stage's mbarrier is initialised, the last one too
// buffer: x in f32 96 ramp
// buffer: y out f32 96
// launch: stages grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
#ifndef BROKEN
#define READY STAGES
#else
#define READY (STAGES - 1)
#endif
#define STAGES 3
extern "C" __global__ void stages(const float *x, float *y) {
   __shared__ float room[STAGES][32];
   __shared__ unsigned long long full[STAGES];
   const int t = threadIdx.x;
   if (t == 0)
      for (int n = 0; n < READY; n++)
         bar_init(&full[n], 32);
   __syncthreads();
   for (int n = 0; n < STAGES; n++)
      if (t < 32) {
         room[n][t] = x[32 * n + t];
         bar_arrive(&full[n]);
      } else {
         bar_wait(&full[n], 0);
         y[32 * n + t - 32] = room[n][63 - t];
      }
}
