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
