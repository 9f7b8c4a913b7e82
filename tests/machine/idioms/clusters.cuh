// Clusters as inline assembly, for the kernels in this folder.
#pragma once
#include "tensor_maps.cuh"
__device__ __forceinline__ unsigned cluster_rank() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }
__device__ __forceinline__ void cluster_sync() { cluster_arrive(); cluster_wait(); }
// The same byte of shared memory in the block of that rank.
__device__ __forceinline__ unsigned in_block(const void *p, unsigned rank) {
   unsigned there;
   asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(ROOM(p)), "r"(rank));
   return there;
}
__device__ __forceinline__ float peer_load(unsigned there) { float v; asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory"); return v; }
__device__ __forceinline__ void peer_store(unsigned there, float v) { asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(there), "f"(v) : "memory"); }
__device__ __forceinline__ void peer_arrive(unsigned there) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(there) : "memory"); }
__device__ __forceinline__ void bar_wait_cluster(unsigned long long *b, int parity) {
   unsigned done;
   do
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(ROOM(b)), "r"(parity) : "memory");
   while (!done);
}
__device__ __forceinline__ void bulk_multicast(void *to, const void *from, int bytes, unsigned long long *b, unsigned short blocks) {
   asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" :: "r"(ROOM(to)), "l"(from), "r"(bytes), "r"(ROOM(b)), "h"(blocks) : "memory");
}
__device__ __forceinline__ void tile_multicast(void *to, const tensor_map *map, int x, int y, unsigned long long *b, unsigned short blocks) {
   asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" :: "r"(ROOM(to)), "l"(map), "r"(x), "r"(y), "r"(ROOM(b)), "h"(blocks) : "memory");
}
