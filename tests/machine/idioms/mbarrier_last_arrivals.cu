// why: a warp that leaves early says so (arrive_drop), so that later phases do not wait for it
// buffer: y out f32 64
// launch: leave grid=1 block=64 args=y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
extern "C" __global__ void leave(float *y) {
   __shared__ unsigned long long all;
   if (threadIdx.x == 0)
      bar_init(&all, 64);
   __syncthreads();
   y[threadIdx.x] = 1;
   if (threadIdx.x >= 32) {
#ifndef BROKEN
      asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" :: "r"(ROOM(&all)) : "memory");
#else
      bar_arrive(&all);
#endif
      return;
   }
   for (int k = 0; k < 3; k++) {
      bar_arrive(&all);
      bar_wait(&all, k & 1);
   }
}
