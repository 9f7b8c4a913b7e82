// why: each block of a pair announces a copy at the mbarrier of the other; in the broken one both announce it at that of block 0
// buffer: x in f32 64 ramp
// buffer: y out f32 128
// launch: share grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.phase
#include "clusters.cuh"
extern "C" __global__ void share(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   cluster_sync();
#ifndef BROKEN
   const int where = 1 - r;
#else
   const int where = 0;
#endif
   if (t == 0)
      asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], 256;" :: "r"(in_block(&full, where)) : "memory");
   if (t == 0 && r == 0)
      bulk_multicast(room, x, 256, &full, 3);
   bar_wait(&full, 0);
   y[blockIdx.x * 64 + t] = room[t];
   cluster_sync();
}
