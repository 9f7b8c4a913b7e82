// why: a bulk store is committed before its thread waits; in the broken one it is in no group
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = x[threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, room, 256);
#ifndef BROKEN
      bulk_commit();
#endif
      bulk_wait_read<0>();
   }
   __syncthreads();
   room[threadIdx.x] = 0;
}
