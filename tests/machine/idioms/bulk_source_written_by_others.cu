// why: a copy that ends at an mbarrier has read its source: who has waited there may write it, without any other order with the thread that
// why: started the copy; the broken one writes it without having waited
// buffer: x in f32 128 ramp
// buffer: h scratch f32 128
// buffer: y out f32 128
// launch: keep grid=1 block=128 args=x,h
// launch: take grid=1 block=64 args=h,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void keep(const float *x, float *h) { h[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void take(float *h, float *y) {
   __shared__ __align__(16) float room[128];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, sizeof room);
      bulk_load(room, h, sizeof room, &full);
   }
   if (threadIdx.x >= 32) {
#ifndef BROKEN
      bar_wait(&full, 0);
#endif
      for (int i = threadIdx.x - 32; i < 128; i += 32)
         h[i] = 0;
   }
   bar_wait(&full, 0);
   if (threadIdx.x < 32)
      for (int i = threadIdx.x; i < 128; i += 32)
         y[i] = room[i];
}
