// why: every lane of a producer warp copies a row of its own to one mbarrier; one of them announces all bytes, in each phase anew, after
// why: all have waited for the stage; the broken one lets one lane wait for all, and no barrier of the warp tells the others
// buffer: x in f32 4096 noise
// buffer: y out f32 4096
// launch: rows grid=1 block=96 args=x,y
// expect: pass
// broken: reject sync.phase
#include "mbarriers.cuh"
extern "C" __global__ void rows(const float *x, float *y) {
   __shared__ __align__(128) float room[2][32][16];
   __shared__ unsigned long long full[2], empty[2];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x < 2) {
      bar_init(&full[threadIdx.x], 1);
      bar_init(&empty[threadIdx.x], 64);
      bar_fence();
   }
   __syncthreads();
   for (int k = 0; k < 8; k++) {
      const int s = k & 1, phase = k >> 1 & 1;
      if (warp == 0) {
#ifdef BROKEN
         if (lane == 0)
#endif
         bar_wait(&empty[s], phase ^ 1);
         if (lane == 0)
            bar_expect(&full[s], sizeof room[0]);
         bulk_load(room[s][lane], x + 512 * k + 16 * lane, 64, &full[s]);
      } else {
         bar_wait(&full[s], phase);
         for (int n = threadIdx.x - 32; n < 512; n += 64)
            y[512 * k + n] = room[s][n / 16][15 - n % 16];
         bar_arrive(&empty[s]);
      }
   }
}
