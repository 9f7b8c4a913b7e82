// why: st.async completes bytes at the mbarrier beside what it writes; whoever reads it waits there
// buffer: x in f32 128 ramp
// buffer: y out f32 128
// launch: swap grid=2 cluster=2 block=64 args=x,y
// expect: pass
// broken: reject race.async
#include "clusters.cuh"
extern "C" __global__ void swap(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   const int t = threadIdx.x;
   const unsigned other = cluster_rank() ^ 1;
   if (t == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
   }
   cluster_sync();
   asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" :: "r"(in_block(&room[t], other)), "r"(__float_as_uint(x[blockIdx.x * 64 + t])), "r"(in_block(&full, other)) : "memory");
#ifndef BROKEN
   bar_wait_cluster(&full, 0);
#else
   __syncthreads();
#endif
   y[blockIdx.x * 64 + t] = room[t];
   cluster_sync();
   bar_wait(&full, 0);
}
