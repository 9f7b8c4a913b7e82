// why: a stage that is filled for both blocks is free when the threads of both have read it, and each tells both producers
// buffer: x in f32 1024 ramp
// buffer: y out f32 128
// map: rows x f32 dims=64,16 strides=256 box=32,1
// launch: sum grid=2 cluster=2 block=96 args=rows,y
// expect: pass
// broken: reject sync.phase
#include "clusters.cuh"
extern "C" __global__ void sum(const __grid_constant__ tensor_map rows, float *y) {
   __shared__ __align__(128) float room[2][64];
   __shared__ unsigned long long full[2], empty[2];
   const int t = threadIdx.x;
   const unsigned r = cluster_rank();
   if (t == 0) {
      for (int s = 0; s < 2; s++) {
         bar_init(&full[s], 1);
#ifndef BROKEN
         bar_init(&empty[s], 128);
#else
         bar_init(&empty[s], 64);
#endif
      }
      bar_fence();
   }
   cluster_sync();
   if (t >= 64) {
      if (t == 64)
         for (int k = 0; k < 16; k++) {
            const int s = k & 1;
            if (k >= 2)
               bar_wait_cluster(&empty[s], (k / 2 - 1) & 1);
            bar_expect(&full[s], 256);
            tile_multicast(&room[s][32 * r], &rows, 32 * r, k, &full[s], 3);
         }
   } else {
      float v = 0;
      for (int k = 0; k < 16; k++) {
         const int s = k & 1;
         bar_wait(&full[s], k / 2 & 1);
         v += room[s][t];
         peer_arrive(in_block(&empty[s], r));
#ifndef BROKEN
         peer_arrive(in_block(&empty[s], r ^ 1));
#endif
      }
      y[64 * r + t] = v;
   }
   cluster_sync();
}
