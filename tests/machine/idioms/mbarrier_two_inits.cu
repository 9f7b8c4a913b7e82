// why: one thread initialises the mbarrier; in the broken twin a thread of another warp does it too
// buffer: y out f32 64
// launch: twice grid=1 block=64 args=y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void twice(float *y) {
   __shared__ unsigned long long all;
   if (threadIdx.x == 0)
      bar_init(&all, 64);
   __syncthreads();
#ifdef BROKEN
   if (threadIdx.x == 32)
      bar_init(&all, 64);
   __syncthreads();
#endif
   bar_arrive(&all);
   bar_wait(&all, 0);
   y[threadIdx.x] = 1;
}
