// why: eight blocks of 1,024 threads each pass a row on to the next block; the broken one orders nothing between its last two threads
// buffer: x in f32 8192 ramp
// buffer: y out f32 8192
// buffer: z out f32 1
// launch: pass grid=8 cluster=8 block=1024 args=x,y,z
// expect: pass
// broken: reject race.global
#include "clusters.cuh"
extern "C" __global__ void pass(const float *x, float *y, float *z) {
   __shared__ float room[1024];
   const int t = threadIdx.x, at = blockIdx.x * 1024 + t;
   room[t] = x[at];
   cluster_sync();
   y[at] = peer_load(in_block(&room[t], (cluster_rank() + 1) % 8));
   if (at == 8190)
      *z = 1;
   cluster_sync();
#ifdef BROKEN
   if (at == 8189)
      *z = 2;
   cluster_arrive();
   if (at == 8191)
      *z = 3;
   cluster_wait();
#endif
}
