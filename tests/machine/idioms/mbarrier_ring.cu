// why: a ring of two stages between a producer warp and two consumer warps; the producer that does not wait until a stage is empty
// why: writes over what is still read
// buffer: x in f32 256 noise
// buffer: y out f32 512
// launch: ring grid=1 block=96 args=x,y
// expect: pass
// broken: reject sync.phase
#include "mbarriers.cuh"
extern "C" __global__ void ring(const float *x, float *y) {
   __shared__ float room[2][32];
   __shared__ unsigned long long full[2], empty[2];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      for (int s = 0; s < 2; s++) {
         bar_init(&full[s], 32);
         bar_init(&empty[s], 2);
      }
   }
   __syncthreads();
   if (warp == 0) {
      for (int k = 0; k < 8; k++) {
         const int s = k % 2;
#ifndef BROKEN
         bar_wait(&empty[s], (k / 2 & 1) ^ 1);
#endif
         room[s][lane] = x[32 * k + lane];
         bar_arrive(&full[s]);
      }
   } else {
      for (int k = 0; k < 8; k++) {
         const int s = k % 2;
         bar_wait(&full[s], k / 2 & 1);
         y[256 * (warp - 1) + 32 * k + lane] = room[s][31 - lane];
         __syncwarp();
         if (lane == 0)
            bar_arrive(&empty[s]);
      }
   }
}
