// why: counts of all blocks of a cluster in the memory of its first: zeros are written before, and sums read after, a barrier of the cluster
// buffer: x in i32 512 index
// buffer: y out i32 16
// launch: count grid=4 cluster=2 block=128 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void count(const int *x, int *y) {
   __shared__ int bins[8];
   const int t = threadIdx.x;
   if (t < 8)
      bins[t] = 0;
   cluster_sync();
   asm volatile("red.shared::cluster.add.u32 [%0], 1;" :: "r"(in_block(&bins[x[blockIdx.x * 128 + t] & 7], 0)) : "memory");
#ifndef BROKEN
   cluster_sync();
#else
   __syncthreads();
#endif
   if (cluster_rank() == 0 && t < 8)
      y[blockIdx.x / 2 * 8 + t] = bins[t];
   cluster_sync();
}
