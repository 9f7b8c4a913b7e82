// why: a block copies a tile of each of four tensors by one map that it changes between them, and acquires it each time; the broken one
// why: acquires it the first time alone
// buffer: x in f32 4096 index
// buffer: room scratch u8 256
// buffer: y out f32 1024
// map: from x f32 dims=32,32 strides=128 box=32,8
// launch: change grid=1 block=64 args=from,x,room,y
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, const float *x, tensor_map *room, float *y) {
   __shared__ __align__(128) tensor_map mine;
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   if (t < 32)
      map_take(&mine, &from);
   __syncthreads();
   for (int n = 0; n < 4; n++) {
      if (t < 32) {
         if (t == 0)
            map_address(&mine, x + 1024 * n);
         __syncwarp();
         map_give(room, &mine);
#ifdef BROKEN
         if (n == 0)
#endif
            map_acquire(room);
         if (t == 0) {
            bar_expect(&full, 1024);
            tile_load(tile, room, 0, 8, &full);
         }
      }
      bar_wait(&full, n & 1);
      for (int k = t; k < 256; k += 64) {
         if (tile[k] != 1024 * n + 256 + k)
            __trap();
         y[256 * n + k] = tile[k];
      }
      __syncthreads();
   }
}
