// why: in a cluster the lanes of a warp read words that other lanes of it wrote: that they go together orders nothing
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: turn grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void turn(const float *x, float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   room[t] = x[at];
#ifndef BROKEN
   __syncwarp();
#endif
   y[at] = room[t ^ 1];
   cluster_sync();
}
