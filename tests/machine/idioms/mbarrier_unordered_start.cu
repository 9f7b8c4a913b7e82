// why: a thread may arrive only after it has learnt that the mbarrier is initialised
// buffer: y out f32 64
// launch: start grid=1 block=64 args=y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void start(float *y) {
   __shared__ unsigned long long all;
   if (threadIdx.x == 0)
      bar_init(&all, 64);
#ifndef BROKEN
   __syncthreads();
#else
   __syncwarp();
#endif
   bar_arrive(&all);
   bar_wait(&all, 0);
   y[threadIdx.x] = 1;
}
