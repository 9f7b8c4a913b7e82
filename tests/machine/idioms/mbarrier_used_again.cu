// why: the memory of an mbarrier serves another one after inval, once nobody uses the first any more
// buffer: y out f32 64
// launch: again grid=1 block=64 args=y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void again(float *y) {
   __shared__ unsigned long long all;
   for (int k = 0; k < 2; k++) {
      if (threadIdx.x == 0)
         bar_init(&all, 64);
      __syncthreads();
      bar_arrive(&all);
      bar_wait(&all, 0);
#ifndef BROKEN
      __syncthreads();
#endif
      if (threadIdx.x == 0)
         asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(ROOM(&all)) : "memory");
   }
   y[threadIdx.x] = 1;
}
