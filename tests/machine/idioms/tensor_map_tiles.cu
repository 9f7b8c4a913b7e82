// why: tiles of a matrix are loaded, doubled and stored, the last ones over its edge; without the fence the copy may store what
// why: was there before
// buffer: x in f32 1200 ramp
// buffer: y out f32 1200
// map: from x f32 dims=40,30 strides=160 box=32,8
// map: to y f32 dims=40,30 strides=160 box=32,8
// launch: tiles grid=2,4 block=128 args=from,to
// expect: pass
// broken: reject race.proxy
#include "tensor_maps.cuh"
extern "C" __global__ void tiles(const __grid_constant__ tensor_map from, const __grid_constant__ tensor_map to) {
   __shared__ __align__(128) float room[8][32];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, sizeof room);
      tile_load(room, &from, blockIdx.x * 32, blockIdx.y * 8, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int n = t; n < 256; n += 128)
      room[n / 32][n % 32] *= 2;
#ifndef BROKEN
   proxy_fence();
#endif
   __syncthreads();
   if (t == 0) {
      tile_store(&to, blockIdx.x * 32, blockIdx.y * 8, room);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
