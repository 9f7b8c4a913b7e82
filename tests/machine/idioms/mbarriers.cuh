// Mbarriers as inline assembly, for the kernels in this folder.
#pragma once
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
__device__ __forceinline__ void bar_init(unsigned long long *b, int n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(ROOM(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void bar_arrive(unsigned long long *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(ROOM(b)) : "memory"); }
__device__ __forceinline__ bool bar_try(unsigned long long *b, int parity) {
   unsigned done;
   asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(ROOM(b)), "r"(parity) : "memory");
   return done;
}
__device__ __forceinline__ void bar_wait(unsigned long long *b, int parity) { while (!bar_try(b, parity)); }
__device__ __forceinline__ void bar_expect(unsigned long long *b, int bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(ROOM(b)), "r"(bytes) : "memory"); }
__device__ __forceinline__ void bar_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ __forceinline__ void proxy_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void bulk_load(void *to, const void *from, int bytes, unsigned long long *b) {
   asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" :: "r"(ROOM(to)), "l"(from), "r"(bytes), "r"(ROOM(b)) : "memory");
}
__device__ __forceinline__ void bulk_store(void *to, const void *from, int bytes) {
   asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" :: "l"(to), "r"(ROOM(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int n> __device__ __forceinline__ void bulk_wait_read() { asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(n) : "memory"); }
template <int n> __device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group %0;" :: "n"(n) : "memory"); }
