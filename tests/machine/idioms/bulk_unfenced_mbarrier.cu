// why: the async proxy must be told of an mbarrier before a copy completes on it
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: unfenced grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void unfenced(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
#ifndef BROKEN
      proxy_fence();
#endif
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bulk_load(room, x, 256, &full);
      bar_expect(&full, 256);
   }
   bar_wait(&full, 0);
   y[threadIdx.x] = room[63 - threadIdx.x];
}
