// why: the ranks of a cluster of two blocks are 0 and 1
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: swap grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
extern "C" __global__ void swap(const float *x, float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   room[t] = x[at];
   cluster_sync();
#ifndef BROKEN
   y[at] = peer_load(in_block(&room[t], (blockIdx.x + 1) % 2));
#else
   y[at] = peer_load(in_block(&room[t], (blockIdx.x + 1) % 4));
#endif
   cluster_sync();
}
