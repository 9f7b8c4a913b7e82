// why: shared memory of another block of the cluster is there until that block ends: it must wait for those that read it
// buffer: x in f32 512 ramp
// buffer: y out f32 512
// launch: shift grid=8 cluster=4 block=64 args=x,y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
extern "C" __global__ void shift(const float *x, float *y) {
   __shared__ float mine[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   mine[t] = x[at];
   cluster_sync();
   const unsigned next = (cluster_rank() + 1) % 4;
   y[at] = peer_load(in_block(&mine[63 - t], next)) + mine[t];
#ifndef BROKEN
   cluster_sync();
#endif
}
