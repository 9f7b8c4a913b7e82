// why: a thread copies a row from scratch memory, waits for the copy, and clears the row behind it; the broken one clears it while the copy may
// why: still be reading
// buffer: x in f32 128 ramp
// buffer: h scratch f32 128
// buffer: y out f32 128
// launch: keep grid=1 block=128 args=x,h
// launch: take grid=1 block=32 args=h,y
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
      bar_expect(&full, sizeof room);
      bulk_load(room, h, sizeof room, &full);
   }
   __syncthreads();
#ifndef BROKEN
   bar_wait(&full, 0);
#endif
   for (int i = threadIdx.x; i < 128; i += 32)
      h[i] = 0;
   bar_wait(&full, 0);
   for (int i = threadIdx.x; i < 128; i += 32)
      y[i] = room[i];
}
