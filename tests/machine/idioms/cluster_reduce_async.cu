// why: red.async of both blocks into one: zeros come before a barrier of the cluster, and the bytes of all are announced
// buffer: x in i32 256 index
// buffer: y out i32 8
// launch: count grid=2 cluster=2 block=128 args=x,y
// expect: pass
// broken: reject sync.deadlock
#include "clusters.cuh"
#ifndef BROKEN
#define BYTES 1024
#else
#define BYTES 1028
#endif
extern "C" __global__ void count(const int *x, int *y) {
   __shared__ int bins[8];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   if (t < 8)
      bins[t] = 0;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, BYTES);
   }
   cluster_sync();
   asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" :: "r"(in_block(&bins[x[blockIdx.x * 128 + t] & 7], 0)), "r"(1), "r"(in_block(&full, 0)) : "memory");
   if (cluster_rank() == 0) {
      bar_wait_cluster(&full, 0);
      if (t < 8)
         y[t] = bins[t];
   }
   cluster_sync();
}
