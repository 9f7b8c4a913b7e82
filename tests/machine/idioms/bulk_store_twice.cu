// why: two bulk stores write the same rows, the second other values: the thread waits for the end of the first; the broken one waits until it has read alone
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: twice grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void twice(const float *x, float *y) {
   __shared__ __align__(128) float none[64], room[64];
   none[threadIdx.x] = 0;
   room[threadIdx.x] = x[threadIdx.x];
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(y, none, 256);
      bulk_commit();
#ifndef BROKEN
      bulk_wait<0>();
#else
      bulk_wait_read<0>();
#endif
      bulk_store(y, room, 256);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
