// why: a thread waits for its own bulk store; in the broken one another thread waits, which has started none
// buffer: x in f32 64 ramp
// buffer: kept scratch f32 64
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,kept,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
#ifndef BROKEN
#define WAITS 0
#else
#define WAITS 32
#endif
extern "C" __global__ void k(const float *x, float *kept, float *y) {
   __shared__ __align__(128) float room[64];
   room[threadIdx.x] = x[threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(kept, room, 256);
      bulk_commit();
   }
   if (threadIdx.x == WAITS)
      bulk_wait<0>();
   __syncthreads();
   y[threadIdx.x] = kept[threadIdx.x];
}
