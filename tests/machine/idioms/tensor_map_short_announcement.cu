// why: a tile counts whole, also where it lies over the tensor's edge
// buffer: x in f32 1200 ramp
// buffer: y out f32 256
// map: from x f32 dims=40,30 strides=160 box=32,8
// launch: edge grid=1 block=32 args=from,y
// expect: pass
// broken: reject sync.deadlock
#include "tensor_maps.cuh"
#ifndef BROKEN
#define BYTES 1024
#else
#define BYTES 256
#endif
extern "C" __global__ void edge(const __grid_constant__ tensor_map from, float *y) {
   __shared__ __align__(128) float room[8][32];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      tile_load(room, &from, 32, 0, &full);
      bar_expect(&full, BYTES);
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int r = 0; r < 8; r++)
      y[32 * r + t] = room[r][t];
}
