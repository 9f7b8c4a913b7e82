// why: what bulk reductions of two blocks change is read after the phase that counts the bytes of both, not while they are on their way
// buffer: x in i32 128 index
// buffer: y out i32 64
// launch: largest grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "clusters.cuh"
extern "C" __global__ void largest(const int *x, int *y) {
   __shared__ __align__(128) int mine[64], most[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   mine[t] = x[blockIdx.x * 64 + t];
   most[t] = -1;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 512);
   }
   proxy_fence();
   cluster_sync();
   if (t == 0)
      asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 [%0], [%1], 256, [%2];" :: "r"(in_block(most, 0)), "r"(ROOM(mine)), "r"(in_block(&full, 0)) : "memory");
#ifdef BROKEN
   cluster_sync(); /* orders threads, and no bulk operation */
   if (cluster_rank() == 0)
      y[t] = most[t];
#endif
   if (cluster_rank() == 0) {
      bar_wait_cluster(&full, 0);
      y[t] = most[t];
   }
   cluster_sync();
}
