// why: sixteen lanes write a map and one of them releases it for all, after a warp barrier; in the broken one the release comes before the barrier
// buffer: x in f32 4096 index
// buffer: room scratch u8 256
// buffer: y out f32 256
// map: from x f32 dims=64,64 strides=256 box=32,8
// launch: change grid=1 block=64 args=from,room,y
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, tensor_map *room, float *y) {
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   if (t < 32) {
      map_take(room, &from);
#ifndef BROKEN
      __syncwarp();
#endif
      if (t == 0)
         map_release();
#ifdef BROKEN
      __syncwarp();
#endif
   }
   __syncthreads();
   if (t == 32) {
      map_acquire(room);
      bar_expect(&full, 1024);
      tile_load(tile, room, 32, 0, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 64)
      y[n] = tile[n];
}
