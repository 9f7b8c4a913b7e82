// why: what a bulk copy brings is there when its mbarrier's phase is complete, and not after a barrier of the block
// buffer: x in f32 64 noise
// buffer: y out f32 64
// launch: early grid=1 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "mbarriers.cuh"
extern "C" __global__ void early(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      bar_expect(&full, 256);
      bulk_load(room, x, 256, &full);
   }
#ifdef BROKEN
   __syncthreads();
   y[threadIdx.x] = room[63 - threadIdx.x];
#endif
   bar_wait(&full, 0);
   y[threadIdx.x] = room[63 - threadIdx.x];
}
