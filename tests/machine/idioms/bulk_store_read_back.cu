// why: a thread that waits for its bulk store lets the block read what the store wrote; the broken one waits until the store has read alone
// buffer: x in f32 256 ramp
// buffer: kept scratch f32 256
// buffer: y out f32 256
// launch: rows grid=1 block=64 args=x,kept,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void rows(const float *x, float *kept, float *y) {
   __shared__ __align__(128) float room[256];
   for (int n = threadIdx.x; n < 256; n += 64)
      room[n] = x[n] + 1;
   proxy_fence();
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_store(kept, room, 1024);
      bulk_commit();
#ifndef BROKEN
      bulk_wait<0>();
#else
      bulk_wait_read<0>();
#endif
   }
   __syncthreads();
   for (int n = threadIdx.x; n < 256; n += 64)
      y[n] = kept[255 - n];
}
