// why: a copy for both blocks completes bytes at the mbarriers of both: each must be initialised before the copy starts
// buffer: x in f32 64 ramp
// buffer: y out f32 128
// launch: share grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.mbarrier
#include "clusters.cuh"
extern "C" __global__ void share(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
#ifdef BROKEN
   cluster_sync();
#endif
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
   }
#ifndef BROKEN
   cluster_sync();
#else
   __syncthreads();
#endif
   if (t == 0 && r == 0)
      bulk_multicast(room, x, 256, &full, 3);
   bar_wait(&full, 0);
   y[blockIdx.x * 64 + t] = room[t];
   cluster_sync();
}
