// why: a swizzled tile is read at swizzled addresses; the rows of the broken one are read as if they lay one after another, and what is
// why: then stored at two places differs: the check is by value, a trap
// buffer: x in f32 2048 index
// buffer: y out f32 512
// map: from x f32 dims=64,32 strides=256 box=32,16 swizzle=128
// launch: swizzled grid=1 block=32 args=from,y
// expect: pass
// broken: reject plan.trap
#include "tensor_maps.cuh"
extern "C" __global__ void swizzled(const __grid_constant__ tensor_map from, float *y) {
   __shared__ __align__(1024) float room[16 * 32];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, sizeof room);
      tile_load(room, &from, 32, 8, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int r = 0; r < 16; r++) {
#ifndef BROKEN
      const int column = t ^ (r & 7) << 2;
#else
      const int column = t;
#endif
      const float value = room[32 * r + column];
      if (value != (8 + r) * 64 + 32 + t)
         asm volatile("trap;");
      y[32 * r + t] = value;
   }
}
