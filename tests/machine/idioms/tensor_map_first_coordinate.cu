// why: the first coordinate of a tile is a whole number of 16 bytes; an H200 ends the launch at others
// buffer: x in f32 1200 ramp
// buffer: y out f32 32
// map: from x f32 dims=40,30 strides=160 box=32,8
// launch: place grid=1 block=32 args=from,y
// expect: pass
// broken: reject memory.misaligned
#include "tensor_maps.cuh"
#ifndef BROKEN
#define AT 4
#else
#define AT 3
#endif
extern "C" __global__ void place(const __grid_constant__ tensor_map from, float *y) {
   __shared__ __align__(128) float room[256];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 1024);
      tile_load(room, &from, AT, 1, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   y[t] = room[t];
}
