// why: sixteen blocks of 1,024 threads, as many as a cluster may have; the broken one reads before the others have written
// buffer: x in f32 16384 ramp
// buffer: y out f32 16384
// launch: pass grid=16 cluster=16 block=1024 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void pass(const float *x, float *y) {
   __shared__ float room[1024];
   const int t = threadIdx.x, at = blockIdx.x * 1024 + t;
   cluster_sync();
   room[t] = x[at];
#ifndef BROKEN
   cluster_sync();
#endif
   y[at] = peer_load(in_block(&room[t], cluster_rank() ^ 15));
   cluster_sync();
}
