// why: one lane waits for a copy, and the warp goes on together when it has come; where more bytes are announced than come, the lane's wait never ends
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: copy grid=2 block=32 args=x,y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
#ifndef BROKEN
#define BYTES 128
#else
#define BYTES 256
#endif
extern "C" __global__ void copy(const float *x, float *y) {
   __shared__ __align__(128) float room[32];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, BYTES);
      bulk_load(room, x + 32 * blockIdx.x, 128, &full);
      bar_wait(&full, 0);
   }
   __syncwarp();
   y[32 * blockIdx.x + t] = room[t];
}
