// why: in a cluster all warps of a block read the same words of its own shared memory at once, and one overwrites them after a barrier
// buffer: x in f32 512 ramp
// buffer: y out f32 512
// launch: rows grid=4 cluster=2 block=128 args=x,y
// expect: pass
// broken: reject race.shared
#include "clusters.cuh"
extern "C" __global__ void rows(const float *x, float *y) {
   __shared__ float parts[4];
   const int t = threadIdx.x, at = blockIdx.x * 128 + t;
   float sum = x[at];
   for (int round = 0; round < 3; round++) {
      if (t % 32 == 0)
         parts[t / 32] = sum;
      __syncthreads();
      for (int warp = 0; warp < 4; warp++)
         sum += parts[warp];
#ifndef BROKEN
      __syncthreads();
#endif
   }
   y[at] = sum;
   cluster_sync();
}
