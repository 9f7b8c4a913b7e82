// why: the first phase has parity 0; who waits for parity 1 passes at once, before anything was written, or never
// buffer: y out f32 64
// launch: first grid=1 block=64 args=y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
#ifndef BROKEN
#define PARITY 0
#else
#define PARITY 1
#endif
extern "C" __global__ void first(float *y) {
   __shared__ float room[32];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0)
      bar_init(&full, 32);
   __syncthreads();
   if (threadIdx.x < 32) {
      room[threadIdx.x] = threadIdx.x;
      bar_arrive(&full);
      y[threadIdx.x] = threadIdx.x;
   } else {
      bar_wait(&full, PARITY);
      y[threadIdx.x] = room[threadIdx.x % 32];
   }
}
