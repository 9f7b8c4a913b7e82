// why: bulk reductions of two blocks into one: they are in no order with each other, and what they change was written and fenced before
// buffer: x in i32 128 index
// buffer: y out i32 64
// launch: sums grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.proxy
#include "clusters.cuh"
extern "C" __global__ void sums(const int *x, int *y) {
   __shared__ __align__(128) int mine[64], total[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   mine[t] = x[blockIdx.x * 64 + t];
   total[t] = 0;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 512);
   }
#ifndef BROKEN
   proxy_fence();
#endif
   cluster_sync();
   if (t == 0)
      asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], 256, [%2];" :: "r"(in_block(total, 0)), "r"(ROOM(mine)), "r"(in_block(&full, 0)) : "memory");
   if (cluster_rank() == 0) {
      bar_wait_cluster(&full, 0);
      y[t] = total[t];
   }
   cluster_sync();
}
