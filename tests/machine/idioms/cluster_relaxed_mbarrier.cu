// why: fence.mbarrier_init goes with the next arrival at the cluster's barrier, a relaxed one too; without it the other block sees no mbarrier
// buffer: x in f32 256 ramp
// buffer: y out f32 512
// launch: share grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.mbarrier
#include "clusters.cuh"
extern "C" __global__ void share(const float *x, float *y) {
   __shared__ __align__(128) float room[128];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
   if (t == 0) {
      bar_init(&full, 1);
#ifndef BROKEN
      bar_fence();
#endif
   }
   __syncthreads();
   cluster_arrive_relaxed();
   cluster_wait();
   if (t == 0) {
      bar_expect(&full, 512);
      bulk_multicast(room + 64 * r, x + blockIdx.x * 64, 256, &full, 3);
   }
   bar_wait(&full, 0);
   y[blockIdx.x * 128 + t] = room[t];
   y[blockIdx.x * 128 + 64 + t] = room[64 + t];
   cluster_sync();
}
