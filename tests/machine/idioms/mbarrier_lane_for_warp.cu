// why: one lane says for its warp that a buffer is free; without a barrier of the warp before, it speaks for itself alone
// buffer: x in f32 128 noise
// buffer: y out f32 128
// launch: free_stage grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "mbarriers.cuh"
extern "C" __global__ void free_stage(const float *x, float *y) {
   __shared__ float room[32];
   __shared__ unsigned long long full, empty;
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      bar_init(&full, 32);
      bar_init(&empty, 1);
   }
   __syncthreads();
   for (int k = 0; k < 4; k++) {
      if (warp == 0) {
         bar_wait(&empty, (k & 1) ^ 1);
         room[lane] = x[32 * k + lane];
         bar_arrive(&full);
      } else {
         bar_wait(&full, k & 1);
         y[32 * k + lane] = room[31 - lane];
#ifndef BROKEN
         __syncwarp();
#endif
         if (lane == 0)
            bar_arrive(&empty);
      }
   }
}
