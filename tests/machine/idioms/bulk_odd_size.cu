// why: sizes of bulk copies are multiples of sixteen
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: odd grid=1 block=64 args=x,y
// expect: pass
// broken: reject memory.misaligned
#include "mbarriers.cuh"
#ifndef BROKEN
#define BYTES 256
#else
#define BYTES 248
#endif
extern "C" __global__ void odd(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, BYTES);
      bulk_load(room, x, BYTES, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   y[threadIdx.x] = room[63 - threadIdx.x];
}
