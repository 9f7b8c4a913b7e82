// why: two threads store rows by bulk copies, each its own; in the broken one their rows overlap by sixteen bytes, and the values differ
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
#ifndef BROKEN
#define MORE 0
#else
#define MORE 16
#endif
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float room[68];
   room[threadIdx.x] = x[threadIdx.x];
   if (threadIdx.x < 4)
      room[64 + threadIdx.x] = -1;
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 32) {
      bulk_store(y + 32, room + 32, 128);
      bulk_commit();
      bulk_wait_read<0>();
   }
   __syncthreads();
   if (threadIdx.x < 4 && MORE)
      room[32 + threadIdx.x] = -1;
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, room, 128 + MORE);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
