// why: an mbarrier that is initialised for one arrival more than come never lets anybody pass
// buffer: y out f32 64
// launch: count grid=1 block=64 args=y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
#ifndef BROKEN
#define COUNT 32
#else
#define COUNT 33
#endif
extern "C" __global__ void count(float *y) {
   __shared__ float room[32];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0)
      bar_init(&full, COUNT);
   __syncthreads();
   if (threadIdx.x < 32) {
      room[threadIdx.x] = threadIdx.x;
      bar_arrive(&full);
   }
   bar_wait(&full, 0);
   y[threadIdx.x] = room[threadIdx.x % 32];
}
