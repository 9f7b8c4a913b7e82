// why: shared memory holds the whole box: what the tensor does not have of it is filled there
// buffer: x in f32 1200 ramp
// buffer: y out f32 32
// map: from x f32 dims=40,30 strides=160 box=32,8
// launch: place grid=1 block=32 args=from,y
// expect: pass
// broken: reject memory.out_of_bounds
#include "tensor_maps.cuh"
#ifndef BROKEN
#define ROWS 8
#else
#define ROWS 4
#endif
extern "C" __global__ void place(const __grid_constant__ tensor_map from, float *y) {
   __shared__ unsigned long long full;
   __shared__ __align__(128) float room[32 * ROWS];
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 1024);
      tile_load(room, &from, 0, 26, &full); /* four of the tensor's rows */
   }
   __syncthreads();
   bar_wait(&full, 0);
   y[t] = room[t + 96];
}
