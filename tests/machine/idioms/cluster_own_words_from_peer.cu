// why: all lanes of a block read a word of its own shared memory that another block of the cluster stored
// buffer: x in f32 256 ramp
// buffer: y out f32 256
// launch: give grid=4 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void give(const float *x, float *y) {
   __shared__ float given[2];
   const int t = threadIdx.x, at = blockIdx.x * 64 + t;
   cluster_sync();
   if (t == 0)
      for (unsigned rank = 0; rank < 2; rank++)
         peer_store(in_block(&given[cluster_rank()], rank), x[at]);
#ifndef BROKEN
   cluster_arrive();
#else
   cluster_arrive_relaxed();
#endif
   cluster_wait();
   y[at] = given[0] + given[1];
}
