// why: a store writes 16 bytes whole where a row of the tensor ends within them, past the buffer's end too
// buffer: y out f32 126 zero
// map: whole y f32 dims=124 box=128
// map: cut y f32 dims=126 box=128
// launch: place grid=1 block=32 args=whole,cut,y
// expect: pass
// broken: reject memory.out_of_bounds
#include "tensor_maps.cuh"
extern "C" __global__ void place(const __grid_constant__ tensor_map whole, const __grid_constant__ tensor_map cut, float *y) {
   __shared__ __align__(128) float room[128];
   const int t = threadIdx.x;
   for (int n = t; n < 128; n += 32)
      room[n] = n;
   proxy_fence();
   __syncwarp();
   if (t == 0) {
#ifndef BROKEN
      asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" :: "l"(&whole), "r"(0), "r"(ROOM(room)) : "memory");
#else
      asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" :: "l"(&cut), "r"(0), "r"(ROOM(room)) : "memory");
#endif
      bulk_commit();
      bulk_wait<0>();
   }
   if (t < 2)
      y[124 + t] = t;
}
