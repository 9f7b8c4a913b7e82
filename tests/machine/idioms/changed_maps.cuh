// Tensor maps that a kernel changes, for the kernels in this folder.
#pragma once
#include "tensor_maps.cuh"
/* The lanes of a warp copy a map to shared memory. */
__device__ __forceinline__ void map_take(tensor_map *to, const tensor_map *from) {
   if (threadIdx.x % 32 < 16)
      to->opaque[threadIdx.x % 32] = from->opaque[threadIdx.x % 32];
}
__device__ __forceinline__ void map_address(tensor_map *map, const void *address) {
   asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" :: "r"(ROOM(map)), "l"(address) : "memory");
}
template <int n> __device__ __forceinline__ void map_dim(tensor_map *map, unsigned elements) {
   asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], %1, %2;" :: "r"(ROOM(map)), "n"(n), "r"(elements) : "memory");
}
template <int n> __device__ __forceinline__ void map_stride(tensor_map *map, unsigned long long bytes) {
   asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], %1, %2;" :: "r"(ROOM(map)), "n"(n), "l"(bytes) : "memory");
}
template <int n> __device__ __forceinline__ void map_box(tensor_map *map, unsigned elements) {
   asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], %1, %2;" :: "r"(ROOM(map)), "n"(n), "r"(elements) : "memory");
}
template <int mode> __device__ __forceinline__ void map_swizzle(tensor_map *map) {
   asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], %1;" :: "r"(ROOM(map)), "n"(mode) : "memory");
}
/* A whole warp copies it to global memory and releases it there. */
__device__ __forceinline__ void map_give(tensor_map *to, const tensor_map *from) {
   asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" :: "l"(to), "r"(ROOM(from)) : "memory");
}
__device__ __forceinline__ void map_release() { asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory"); }
__device__ __forceinline__ void map_acquire(const tensor_map *map) {
   asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}
