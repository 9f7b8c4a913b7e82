// why: a changed map that one thread has acquired may be used by the others of its block after a barrier; in the broken one there is none
// buffer: x in f32 2048 index
// buffer: room scratch u8 256
// buffer: y out f32 256
// map: from x f32 dims=32,64 strides=128 box=32,8
// launch: change grid=1 block=64 args=from,room,y
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, tensor_map *room, float *y) {
   __shared__ __align__(128) tensor_map mine;
   __shared__ __align__(1024) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   if (t < 32) {
      map_take(&mine, &from);
      __syncwarp();
      if (t == 0)
         map_swizzle<3>(&mine);
      __syncwarp();
      map_give(room, &mine);
   }
   __syncthreads();
   if (t == 0)
      map_acquire(room);
#ifndef BROKEN
   __syncthreads();
#endif
   if (t == 32) {
      bar_expect(&full, 1024);
      tile_load(tile, room, 0, 0, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 64) {
      const int row = n / 32, column = n % 32;
      if (tile[row * 32 + ((column / 4 ^ row) * 4 + column % 4)] != n)
         __trap();
      y[n] = n;
   }
}
