// why: two copies and bytes announced for one: the phase completes before the second has come
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: announced grid=1 block=64 args=x,y
// expect: pass
// broken: reject sync.phase
#include "mbarriers.cuh"
#ifndef BROKEN
#define BYTES 256
#else
#define BYTES 128
#endif
extern "C" __global__ void announced(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, BYTES);
      bulk_load(room, x, 128, &full);
      bulk_load(room + 32, x + 32, 128, &full);
   }
   bar_wait(&full, 0);
   y[threadIdx.x] = room[63 - threadIdx.x];
}
