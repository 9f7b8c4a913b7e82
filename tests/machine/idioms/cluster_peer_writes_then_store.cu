// why: a block writes a row into its peer's memory, which the peer stores by a bulk copy: the proxy fence comes behind the barrier of the cluster; in the broken
// why: one the peer fences before the barrier
// buffer: x in f32 64 ramp
// buffer: y out f32 64
// launch: k grid=2 cluster=2 block=32 args=x,y
// expect: pass
// broken: reject race.proxy
#include "mbarriers.cuh"
extern "C" __global__ void k(const float *x, float *y) {
   __shared__ __align__(128) float room[32];
   unsigned rank, to;
   asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
   asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
   asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(ROOM(&room[threadIdx.x])), "r"(1 - rank));
#ifdef BROKEN
   proxy_fence();
#endif
   asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(to), "f"(x[32 * rank + threadIdx.x]) : "memory");
   asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#ifndef BROKEN
   proxy_fence();
   __syncwarp();
#endif
   if (threadIdx.x == 0) {
      bulk_store(y + 32 * rank, room, 128);
      bulk_commit();
      bulk_wait_read<0>();
   }
}
