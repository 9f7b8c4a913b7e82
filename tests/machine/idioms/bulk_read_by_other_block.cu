// why: a block may write the rows that its own copy has read, but not rows that the copy of another block reads: nothing orders two blocks of a launch
// buffer: x inout f32 128 ramp
// buffer: y out f32 128
// launch: turn grid=2 block=64 args=x,y
// expect: pass
// broken: reject race.global
#include "mbarriers.cuh"
#ifndef BROKEN
#define ROWS 1
#else
#define ROWS 0
#endif
extern "C" __global__ void turn(float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
      bulk_load(room, x + 64 * blockIdx.x, 256, &full);
   }
   __syncthreads();
   bar_wait(&full, 0);
   if (blockIdx.x == 1)
      x[64 * ROWS + t] = 2 * room[t];
   y[64 * blockIdx.x + t] = room[63 - t];
}
