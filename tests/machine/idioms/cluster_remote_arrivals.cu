// why: threads of both blocks write to the first one's memory and arrive at its mbarrier, which it waits at before it reads
// buffer: x in f32 256 ramp
// buffer: y out f32 128
// launch: gather grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void gather(const float *x, float *y) {
   __shared__ float room[128];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
   if (t == 0) {
#ifndef BROKEN
      bar_init(&full, 128);
#else
      bar_init(&full, 64);
#endif
      bar_fence();
   }
   cluster_sync();
   peer_store(in_block(&room[64 * r + t], 0), x[blockIdx.x * 64 + t]);
#ifdef BROKEN
   if (r == 0)
#endif
   peer_arrive(in_block(&full, 0));
   if (r == 0) {
      bar_wait_cluster(&full, 0);
      y[blockIdx.x / 2 * 64 + t] = room[t] + room[127 - t];
   }
   cluster_sync();
}
