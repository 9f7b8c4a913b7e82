// why: in a cluster a warp overwrites words that it read itself and another warp of its block read before it: both readings have to come first
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: keep grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void keep(const float *x, float *y) {
   __shared__ float room[32];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   if (t < 32)
      room[t] = x[at];
   __syncthreads();
   const float read = room[t % 32];
#ifndef BROKEN
   __syncthreads();
#else
   __syncwarp();
#endif
   if (t >= 32)
      room[t - 32] = read + 1;
   y[at] = read;
   cluster_sync();
}
