// why: shared memory of another block of the cluster is there from when that block has begun, which barrier.cluster tells
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: hand_on grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
extern "C" __global__ void hand_on(const float *x, float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
#ifndef BROKEN
   cluster_arrive_relaxed();
   cluster_wait();
#endif
   peer_store(in_block(&room[t], cluster_rank() ^ 1), x[at]);
   cluster_sync();
   y[at] = room[t];
}
