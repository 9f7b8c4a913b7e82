// why: two consumer warps take turns at the same stages, each every second tile; that one began after the other had finished is known
// why: through a third mbarrier, or a wait by parity may mistake the other's phase for its own
// buffer: x in f32 2048 ramp
// buffer: y out f32 2048
// map: from x f32 dims=32,64 strides=128 box=32,4
// launch: turns grid=1 block=96 args=from,y
// expect: pass
// broken: reject sync.phase
#include "tensor_maps.cuh"
extern "C" __global__ void turns(const __grid_constant__ tensor_map from, float *y) {
   __shared__ __align__(128) float room[2][4][32];
   __shared__ unsigned long long full[2], empty[2], turn[2];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   if (threadIdx.x == 0) {
      for (int s = 0; s < 2; s++) {
         bar_init(&full[s], 1);
         bar_init(&empty[s], 1);
         bar_init(&turn[s], 32);
      }
      bar_fence();
   }
   __syncthreads();
   if (warp == 2) {
      if (lane == 0)
         for (int k = 0; k < 16; k++) {
            bar_wait(&empty[k & 1], (k >> 1 & 1) ^ 1);
            bar_expect(&full[k & 1], sizeof room[0]);
            tile_load(room[k & 1], &from, 0, 4 * k, &full[k & 1]);
         }
      return;
   }
   // A tile is two stages; warp 0 has the even tiles.
   for (int tile = warp; tile < 8; tile += 2) {
#ifndef BROKEN
      if (tile > 0)
         bar_wait(&turn[1 - warp], (tile - 1) >> 1 & 1);
#endif
      for (int part = 0; part < 2; part++) {
         const int k = 2 * tile + part, s = k & 1;
         bar_wait(&full[s], k >> 1 & 1);
         for (int r = 0; r < 4; r++)
            y[128 * k + 32 * r + lane] = room[s][r][lane];
         __syncwarp();
         if (lane == 0)
            bar_arrive(&empty[s]);
      }
      bar_arrive(&turn[warp]);
   }
}
