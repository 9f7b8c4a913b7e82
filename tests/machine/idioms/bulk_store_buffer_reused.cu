// why: a buffer that a bulk copy stores from may be written again once wait_group.read has said that it was read
// buffer: y out f32 256
// launch: reuse grid=1 block=64 args=y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void reuse(float *y) {
   __shared__ __align__(128) float room[2][64];
   for (int k = 0; k < 4; k++) {
      if (threadIdx.x == 0)
#ifndef BROKEN
         bulk_wait_read<1>();
#else
         bulk_wait_read<2>();
#endif
      __syncthreads();
      room[k % 2][threadIdx.x] = threadIdx.x + k;
      proxy_fence();
      __syncthreads();
      if (threadIdx.x == 0) {
         bulk_store(y + 64 * k, room[k % 2], 256);
         bulk_commit();
      }
   }
   if (threadIdx.x == 0)
      bulk_wait_read<0>();
}
