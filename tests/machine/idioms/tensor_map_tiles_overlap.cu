// why: the last tile of a tensor is moved back, so that it overlaps the one before: both hold the same values there; in the broken one they do not
// buffer: x in f32 192 ramp
// buffer: y out f32 192
// map: to y f32 dims=16,12 strides=64 box=16,8
// launch: tiles grid=1 block=64 args=to,x
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
#ifndef BROKEN
#define AT 4
#else
#define AT 3
#endif
extern "C" __global__ void tiles(const __grid_constant__ tensor_map to, const float *x) {
   __shared__ __align__(128) float room[2][128];
   for (int n = threadIdx.x; n < 128; n += 64) {
      room[0][n] = x[n];
      room[1][n] = x[64 + n];
   }
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      tile_store(&to, 0, 0, room[0]);
      tile_store(&to, 0, AT, room[1]);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
