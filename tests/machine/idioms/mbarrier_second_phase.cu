// why: a wait by parity is right only for a thread that knows of the phase before: one that skips a phase may pass two too early
// buffer: y out f32 96
// launch: second grid=1 block=96 args=y
// expect: pass
// broken: reject sync.phase
#include "mbarriers.cuh"
extern "C" __global__ void second(float *y) {
   __shared__ float room[32];
   __shared__ unsigned long long full, seen;
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      bar_init(&full, 32);
      bar_init(&seen, 32);
   }
   __syncthreads();
   float sum = 0;
   if (warp == 0)
      for (int k = 0; k < 2; k++) {
         if (k)
            bar_wait(&seen, 0);
         room[lane] = k;
         bar_arrive(&full);
      }
   if (warp == 1) {
      bar_wait(&full, 0);
      sum = room[31 - lane];
      bar_arrive(&seen);
   }
   if (warp == 2) {
#ifndef BROKEN
      bar_wait(&seen, 0);
#endif
      bar_wait(&full, 1);
      sum = room[31 - lane];
   }
   y[threadIdx.x] = sum;
}
