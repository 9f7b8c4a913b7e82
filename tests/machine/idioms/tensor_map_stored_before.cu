// why: a tile may be stored over the end of a tensor, not before its beginning: an H200 ends the launch there
// buffer: y out f32 256 zero
// map: to y f32 dims=16,16 strides=64 box=16,8
// launch: place grid=1 block=32 args=to
// expect: pass
// broken: reject memory.out_of_bounds
#include "tensor_maps.cuh"
#ifndef BROKEN
#define AT 12
#else
#define AT -4
#endif
extern "C" __global__ void place(const __grid_constant__ tensor_map to) {
   __shared__ __align__(128) float room[128];
   const int t = threadIdx.x;
   for (int n = t; n < 128; n += 32)
      room[n] = n;
   proxy_fence();
   __syncwarp();
   if (t == 0) {
      tile_store(&to, 0, AT, room);
      bulk_commit();
      bulk_wait<0>();
   }
}
