// why: a relaxed arrival at the cluster's barrier tells that blocks have begun, and orders nothing that they wrote
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: swap grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void swap(const float *x, float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   room[t] = x[at];
#ifndef BROKEN
   cluster_arrive();
#else
   cluster_arrive_relaxed();
#endif
   cluster_wait();
   y[at] = peer_load(in_block(&room[t], cluster_rank() ^ 1));
   cluster_sync();
}
