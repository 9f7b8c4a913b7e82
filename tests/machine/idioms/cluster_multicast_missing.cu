// why: a thread of each block waits for what a copy brings to both; where the copy leaves a block out, its thread waits for bytes that never come
// buffer: x in f32 64 ramp
// buffer: y out f32 128
// launch: share grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.deadlock
#include "clusters.cuh"
#ifndef BROKEN
#define BLOCKS 3
#else
#define BLOCKS 1
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
   if (t == 0)
      bar_wait(&full, 0);
   cluster_sync();
   y[blockIdx.x * 64 + t] = room[t];
   cluster_sync();
}
