// why: a mask of blocks has bits for the cluster's own alone
// buffer: x in f32 64 ramp
// buffer: y out f32 128
// launch: share grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.cluster
#include "clusters.cuh"
#ifndef BROKEN
#define BLOCKS 3
#else
#define BLOCKS 7
#endif
extern "C" __global__ void share(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
   }
   cluster_sync();
   if (t == 0 && r == 0)
      bulk_multicast(room, x, 256, &full, BLOCKS);
   bar_wait(&full, 0);
   y[blockIdx.x * 64 + t] = room[t];
   cluster_sync();
}
