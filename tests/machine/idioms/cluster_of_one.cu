// why: code for clusters in a launch without them, which has clusters of one block: the barrier of the cluster, an address mapped to the
// why: block's own rank and an arrival there; who does not wait at the barrier reads what is not there yet
// buffer: y out f32 64
// launch: alone grid=2 block=32 args=y
// expect: pass
// broken: reject race.shared
#include "mbarriers.cuh"
extern "C" __global__ void alone(float *y) {
   __shared__ float room[32];
   __shared__ unsigned long long all;
   unsigned rank, size, peer;
   asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
   asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
   if (threadIdx.x == 0) {
      bar_init(&all, 32 * size);
      bar_fence();
   }
   room[threadIdx.x] = threadIdx.x;
   asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
#ifdef BROKEN
   y[32 * blockIdx.x + threadIdx.x] = room[31 - threadIdx.x];
#endif
   asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
   asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(ROOM(&all)), "r"(rank));
   asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(peer) : "memory");
   bar_wait(&all, 0);
   y[32 * blockIdx.x + threadIdx.x] = room[31 - threadIdx.x];
}
