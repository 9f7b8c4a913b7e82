// why: a kernel that is compiled for clusters of two blocks is launched in clusters of two
// buffer: y out i32 8
// launch: ranks grid=8 cluster=2 block=32 args=y
// expect: pass
// broken: reject plan.cluster
#include "clusters.cuh"
#ifndef BROKEN
#define BLOCKS 2
#else
#define BLOCKS 4
#endif
extern "C" __global__ void __cluster_dims__(BLOCKS, 1, 1) ranks(int *y) {
   if (threadIdx.x == 0)
      y[blockIdx.x] = cluster_rank();
}
