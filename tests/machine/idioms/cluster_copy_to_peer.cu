// why: a bulk copy from one block's memory to another's reads what threads wrote: a proxy fence comes before
// buffer: x in f32 128 ramp
// buffer: y out f32 128
// launch: swap grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.proxy
#include "clusters.cuh"
extern "C" __global__ void swap(const float *x, float *y) {
   __shared__ __align__(128) float mine[64], theirs[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   const unsigned other = cluster_rank() ^ 1;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
   }
   mine[t] = x[blockIdx.x * 64 + t];
#ifndef BROKEN
   proxy_fence();
#endif
   cluster_sync();
   if (t == 0)
      asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" :: "r"(in_block(theirs, other)), "r"(ROOM(mine)), "r"(in_block(&full, other)) : "memory");
   bar_wait_cluster(&full, 0);
   y[blockIdx.x * 64 + t] = theirs[t];
   cluster_sync();
}
