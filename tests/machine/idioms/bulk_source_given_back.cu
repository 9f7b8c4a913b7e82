// why: a block that has waited for a copy's end tells another block, which then writes the copy's source; the broken one tells it while the
// why: copy may still be reading
// buffer: x in f32 64 ramp
// buffer: h scratch f32 64
// buffer: told scratch i32 1
// buffer: y out f32 64
// launch: keep grid=1 block=64 args=x,h,told
// launch: take grid=2 block=32 args=h,told,y
// expect: pass
// broken: reject race.global
#include "mbarriers.cuh"
extern "C" __global__ void keep(const float *x, float *h, int *told) {
   h[threadIdx.x] = x[threadIdx.x];
   if (threadIdx.x == 0)
      *told = 0;
}
extern "C" __global__ void take(float *h, int *told, float *y) {
   __shared__ __align__(16) float room[64];
   __shared__ unsigned long long full;
   if (blockIdx.x == 1) {
      if (threadIdx.x == 0)
         while (atomicAdd(told, 0) == 0)
            ;
      __threadfence();
      __syncthreads();
      h[threadIdx.x] = 0;
      return;
   }
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, sizeof room);
      bulk_load(room, h, sizeof room, &full);
#ifndef BROKEN
      bar_wait(&full, 0);
#endif
      __threadfence();
      atomicExch(told, 1);
   }
   __syncthreads();
   bar_wait(&full, 0);
   for (int i = threadIdx.x; i < 64; i += 32)
      y[i] = room[i];
}
