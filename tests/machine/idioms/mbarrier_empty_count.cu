// why: two consumer warps say that a stage is empty; a count of three stops the producer, and then the consumers, at the other mbarriers
// buffer: x in f32 1024 noise
// buffer: y out f32 2048
// launch: ring grid=2 block=96 args=x,y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
#ifdef BROKEN
#define CONSUMERS 3
#else
#define CONSUMERS 2
#endif
extern "C" __global__ void ring(const float *x, float *y) {
   __shared__ __align__(128) float room[3][64];
   __shared__ unsigned long long full[3], empty[3];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   x += blockIdx.x * 512;
   y += blockIdx.x * 1024;
   if (threadIdx.x == 0) {
      for (int s = 0; s < 3; s++)
         bar_init(&full[s], 1);
      for (int s = 0; s < 3; s++)
         bar_init(&empty[s], CONSUMERS);
      bar_fence();
   }
   __syncthreads();
   if (warp == 2) {
      if (lane == 0)
         for (int k = 0; k < 8; k++) {
            const int s = k % 3;
            bar_wait(&empty[s], (k / 3 & 1) ^ 1);
            bar_expect(&full[s], 256);
            bulk_load(room[s], x + 64 * k, 256, &full[s]);
         }
   } else {
      const int consumer = warp - 0;
      for (int k = 0; k < 8; k++) {
         const int s = k % 3;
         bar_wait(&full[s], k / 3 & 1);
         y[512 * consumer + 64 * k + lane] = room[s][63 - lane];
         y[512 * consumer + 64 * k + 32 + lane] = room[s][lane];
         __syncwarp();
         if (lane == 0)
            bar_arrive(&empty[s]);
      }
   }
}
