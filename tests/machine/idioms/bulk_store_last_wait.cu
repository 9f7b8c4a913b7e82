// why: shared memory goes with the block, so the last copies must have read it before
// buffer: y out f32 64
// launch: last grid=1 block=64 args=y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void last(float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = threadIdx.x;
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, room, 256);
      bulk_commit();
#ifndef BROKEN
      bulk_wait_read<0>();
#endif
   }
}
