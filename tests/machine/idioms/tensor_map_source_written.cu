// why: while a tile is copied the other columns of its rows may be written, and the tile's own once it has come; the broken one writes those
// why: at once
// buffer: x in f32 1024 ramp
// buffer: h scratch f32 1024
// buffer: y out f32 256
// map: tiles h f32 dims=32,32 strides=128 box=16,16
// launch: keep grid=1 block=1024 args=x,h
// launch: take grid=1 block=32 args=tiles,h,y
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
extern "C" __global__ void keep(const float *x, float *h) { h[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void take(const __grid_constant__ tensor_map tiles, float *h, float *y) {
   __shared__ __align__(128) float room[16][16];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, sizeof room);
      tile_load(room, &tiles, 0, 8, &full);
   }
   __syncthreads();
   for (int row = 8; row < 24; row++)
#ifdef BROKEN
      h[row * 32 + threadIdx.x] = 0;
#else
      if (threadIdx.x >= 16)
         h[row * 32 + threadIdx.x] = 0;
#endif
   bar_wait(&full, 0);
   for (int i = threadIdx.x; i < 256; i += 32) {
      y[i] = room[i / 16][i % 16];
      h[(8 + i / 16) * 32 + i % 16] = 0;
   }
}
