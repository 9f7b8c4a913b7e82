// why: a thread may arrive at an mbarrier of another block, and wait at those of its own alone
// buffer: y out i32 4
// launch: meet grid=4 cluster=2 block=32 args=y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
extern "C" __global__ void meet(int *y) {
   __shared__ unsigned long long full;
   const unsigned other = cluster_rank() ^ 1;
   if (threadIdx.x == 0) {
      bar_init(&full, 32);
      bar_fence();
   }
   cluster_sync();
   peer_arrive(in_block(&full, other));
#ifndef BROKEN
   bar_wait_cluster(&full, 0);
#else
   unsigned done;
   unsigned long long generic = __cvta_generic_to_shared(&full), there;
   asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(&full), "r"(other));
   do
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "l"(there), "r"(0) : "memory");
   while (!done);
   (void)generic;
#endif
   if (threadIdx.x == 0)
      y[blockIdx.x] = 1;
   cluster_sync();
}
