// why: ld.shared names memory of the thread's own block; another block's is named by shared::cluster
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: swap grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
extern "C" __global__ void swap(const float *x, float *y) {
   __shared__ float room[64];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   room[t] = x[at];
   cluster_sync();
   const unsigned there = in_block(&room[t], cluster_rank() ^ 1);
   float v;
#ifndef BROKEN
   v = peer_load(there);
#else
   asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
#endif
   y[at] = v;
   cluster_sync();
}
