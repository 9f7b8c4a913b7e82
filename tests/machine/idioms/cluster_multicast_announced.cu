// why: each block announces the bytes of all copies that come to it, those that other blocks start too
// buffer: x in f32 256 ramp
// buffer: y out f32 512
// launch: share grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject sync.phase
#include "clusters.cuh"
#ifndef BROKEN
#define BYTES 512
#else
#define BYTES 256
#endif
extern "C" __global__ void share(const float *x, float *y) {
   __shared__ __align__(128) float room[128];
   __shared__ unsigned long long full;
   const int t = threadIdx.x, r = cluster_rank();
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
   }
   cluster_sync();
   if (t == 0) {
      bar_expect(&full, BYTES);
      bulk_multicast(room + 64 * r, x + blockIdx.x * 64, 256, &full, 3);
   }
   bar_wait(&full, 0);
   y[blockIdx.x * 128 + t] = room[t];
   y[blockIdx.x * 128 + 64 + t] = room[64 + t];
   cluster_sync();
}
