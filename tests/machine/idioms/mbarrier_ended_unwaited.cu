// why: an mbarrier may be invalidated before anybody has waited for its phase, if all that arrived are ordered before; a copy that completes bytes there is not
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: ended grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void ended(const float *x, float *y) {
   __shared__ __align__(16) float room[64];
   __shared__ unsigned long long all;
   if (threadIdx.x == 0) {
      bar_init(&all, 64);
      bar_fence();
   }
   room[threadIdx.x] = 1;
   __syncthreads();
   if (threadIdx.x == 0) {
#ifndef BROKEN
      bar_arrive(&all);
#else
      proxy_fence();
      bar_expect(&all, 256);
      bulk_load(room, x, 256, &all);
#endif
   } else {
      bar_arrive(&all);
   }
   __syncthreads();
   if (threadIdx.x == 0)
      asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(ROOM(&all)) : "memory");
   y[threadIdx.x] = x[threadIdx.x];
}
