// why: one block of a cluster of three copies a row to all of them; the mask of the broken one leaves the third out, which waits for bytes that never come
// buffer: x in f32 64 ramp
// buffer: y out f32 192
// launch: k grid=3 cluster=3 block=64 args=x,y
// expect: pass
// broken: reject sync.deadlock
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float room[64];
   __shared__ unsigned long long full;
   unsigned rank;
   asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
   if (threadIdx.x == 0) {
      bar_init(&full, 1);
      bar_fence();
      bar_expect(&full, 256);
   }
   asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
   if (rank == 0 && threadIdx.x == 0) {
#ifndef BROKEN
      const unsigned short mask = 7;
#else
      const unsigned short mask = 3;
#endif
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" :: "r"(ROOM(room)), "l"(x), "r"(256), "r"(ROOM(&full)), "h"(mask) : "memory");
   }
   bar_wait(&full, 0);
   y[64 * rank + threadIdx.x] = room[threadIdx.x];
   asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
