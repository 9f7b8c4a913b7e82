// Tensor copies as inline assembly, for the kernels in this folder.
#pragma once
#include "mbarriers.cuh"
struct alignas(64) tensor_map { unsigned long long opaque[16]; };
__device__ __forceinline__ void tile_load(void *to, const tensor_map *map, int x, int y, unsigned long long *b) {
   asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" :: "r"(ROOM(to)), "l"(map), "r"(x), "r"(y), "r"(ROOM(b)) : "memory");
}
__device__ __forceinline__ void tile_store(const tensor_map *map, int x, int y, const void *from) {
   asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" :: "l"(map), "r"(x), "r"(y), "r"(ROOM(from)) : "memory");
}
