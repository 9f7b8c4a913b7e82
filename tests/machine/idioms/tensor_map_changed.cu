// why: each block makes a tensor map of its own in global memory, from one that it was given: another base, fewer rows, another stride; the
// why: broken one uses it before it has acquired it
// buffer: x in f32 4096 index
// buffer: room scratch u8 512
// buffer: y out f32 512
// map: from x f32 dims=64,64 strides=256 box=32,8
// launch: change grid=2 block=64 args=from,x,room,y
// expect: pass
// broken: reject race.proxy
#include "changed_maps.cuh"
extern "C" __global__ void change(const __grid_constant__ tensor_map from, const float *x, tensor_map *room, float *y) {
   __shared__ __align__(128) tensor_map mine;
   __shared__ __align__(128) float tile[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, b = blockIdx.x;
   tensor_map *own = room + 2 * b; /* at a multiple of 128 bytes */
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   if (t < 32) {
      map_take(&mine, &from);
      __syncwarp();
      if (t == 0) {
         map_address(&mine, x + 1024 * b);
         map_dim<1>(&mine, 4); /* rows past it are filled with zeros */
         map_stride<0>(&mine, 512);
      }
      __syncwarp();
      map_give(own, &mine);
   }
   __syncthreads();
   if (t == 32) {
#ifndef BROKEN
      map_acquire(own);
#endif
      bar_expect(&full, 1024);
      tile_load(tile, own, 0, 0, &full);
   }
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 64) {
      const float expected = n / 32 < 4 ? 1024 * b + n / 32 * 128 + n % 32 : 0;
      if (tile[n] != expected)
         __trap();
      y[256 * b + n] = tile[n];
   }
}
