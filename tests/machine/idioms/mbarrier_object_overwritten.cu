// why: an mbarrier is no ordinary memory: a buffer that is cleared together with it destroys it
// buffer: y out f32 64
// launch: clear grid=1 block=64 args=y
// expect: pass
// broken: reject sync.mbarrier
#include "mbarriers.cuh"
extern "C" __global__ void clear(float *y) {
   __shared__ struct { float room[64]; unsigned long long all; } s;
   if (threadIdx.x == 0)
      bar_init(&s.all, 64);
   __syncthreads();
#ifndef BROKEN
   s.room[threadIdx.x] = 1;
#else
   s.room[threadIdx.x + 2] = 1;
#endif
   bar_arrive(&s.all);
   bar_wait(&s.all, 0);
   y[threadIdx.x] = s.room[(threadIdx.x ^ 1) | 2];
}
