// why: what threads wrote is stored by a bulk copy after a proxy fence of each of them and a barrier
// buffer: y out f32 128
// launch: results grid=2 block=64 args=y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void results(float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = threadIdx.x;
#ifndef BROKEN
   proxy_fence();
#endif
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y + 64 * blockIdx.x, room, 256);
      bulk_commit();
      bulk_wait<0>();
   }
}
