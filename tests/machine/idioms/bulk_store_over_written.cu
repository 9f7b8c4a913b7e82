// why: threads clear the rows of a tile, and a tensor store of the same launch writes some of them behind a fence for the async proxy; in the broken
// why: one the fence comes before the rows are cleared
// buffer: x in f32 128 ramp
// buffer: y out f32 256
// map: to y f32 dims=16,16 strides=64 box=16,8
// launch: place grid=1 block=64 args=to,x,y
// expect: pass
// broken: reject race.proxy
#include "tensor_maps.cuh"
extern "C" __global__ void place(const __grid_constant__ tensor_map to, const float *x, float *y) {
   __shared__ __align__(128) float room[128];
   for (int n = threadIdx.x; n < 128; n += 64)
      room[n] = x[n];
#ifdef BROKEN
   asm volatile("fence.proxy.async;" ::: "memory");
#endif
   for (int n = threadIdx.x; n < 256; n += 64)
      y[n] = 0;
#ifndef BROKEN
   asm volatile("fence.proxy.async;" ::: "memory");
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      tile_store(&to, 0, 4, room);
      bulk_commit();
      bulk_wait<0>();
   }
}
