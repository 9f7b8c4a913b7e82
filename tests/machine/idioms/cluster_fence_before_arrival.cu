// why: a fence before a relaxed arrival at the cluster's barrier orders what came before the fence, as in the manual's example; the broken one
// why: writes behind the fence
// buffer: y out f32 128
// launch: swap grid=2 cluster=2 block=64 args=y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void swap(float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x;
   const unsigned rank = cluster_rank();
#ifndef BROKEN
   room[t] = rank * 100 + t;
#endif
   asm volatile("fence.acq_rel.cluster;" ::: "memory");
#ifdef BROKEN
   room[t] = rank * 100 + t;
#endif
   cluster_arrive_relaxed();
   cluster_wait();
   const float there = peer_load(in_block(&room[63 - t], rank ^ 1));
   if (there != (rank ^ 1) * 100 + 63 - t)
      asm volatile("trap;");
   y[rank * 64 + t] = there;
   cluster_sync();
}
