// why: results leave through two buffers: threads write one, fence, meet at a named barrier, one of them stores it with a tensor copy,
// why: and before a buffer is written again its copy has read it and the others have been told
// buffer: y out f32 4096
// map: to y f32 dims=64,64 strides=256 box=32,8 swizzle=128
// launch: epilogue grid=1 block=160 args=to
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
extern "C" __global__ void epilogue(const __grid_constant__ tensor_map to) {
   __shared__ __align__(1024) float room[2][8][32];
   if (threadIdx.x >= 128)
      return;
   for (int k = 0; k < 16; k++) {
      if (threadIdx.x == 0)
         bulk_wait_read<1>();
#ifndef BROKEN
      asm volatile("bar.sync 1, 128;" ::: "memory");
#endif
      for (int n = threadIdx.x; n < 256; n += 128) {
         const int row = n / 32, column = n % 32;
         room[k & 1][row][column ^ row << 2] = k * 256 + n;
      }
      proxy_fence();
      asm volatile("bar.sync 1, 128;" ::: "memory");
      if (threadIdx.x == 0) {
         tile_store(&to, k % 2 * 32, k / 2 * 8, room[k & 1]);
         bulk_commit();
      }
   }
   if (threadIdx.x == 0)
      bulk_wait_read<0>();
}
