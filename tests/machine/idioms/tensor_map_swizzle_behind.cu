// why: a swizzled tile behind other variables is read by the bits of its addresses; the broken one takes it to begin where the pattern does
// buffer: x in f32 2048 index
// buffer: y out f32 512
// map: from x f32 dims=64,32 strides=256 box=32,16 swizzle=128
// launch: swizzled grid=1 block=32 shared=2048 args=from,y
// expect: pass
// broken: reject plan.trap
#include "tensor_maps.cuh"
extern "C" __global__ void swizzled(const __grid_constant__ tensor_map from, float *y) {
   extern __shared__ __align__(128) float room[];
   __shared__ __align__(128) unsigned char before[768];
   unsigned long long *full = (unsigned long long *)before;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(full, 1);
      bar_fence();
      bar_expect(full, 2048);
      tile_load(room, &from, 32, 8, full);
   }
   __syncthreads();
   bar_wait(full, 0);
   for (int r = 0; r < 16; r++) {
#ifndef BROKEN
      const int phase = ROOM(room + 32 * r) >> 7 & 7;
#else
      const int phase = r & 7;
#endif
      const float value = room[32 * r + (t ^ phase << 2)];
      if (value != (8 + r) * 64 + 32 + t)
         asm volatile("trap;");
      y[32 * r + t] = value;
   }
}
