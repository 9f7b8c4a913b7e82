// Products of warpgroups as inline assembly, for the kernels in this folder: 64 rows, 16 columns, 16 terms of halves; and 128 columns of
// bfloat16.
#pragma once
#include "mbarriers.cuh"
__device__ __forceinline__ void group_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void group_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> __device__ __forceinline__ void group_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(n) : "memory"); }
#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define EIGHT(i) FOUR(i), FOUR(i + 4)
#define SIXTEEN(i) EIGHT(i), EIGHT(i + 8)
/* The compiler may not move what it does with these registers across this. */
__device__ __forceinline__ void hold(float (&d)[8]) { asm volatile("" : EIGHT(0) :: "memory"); }
__device__ __forceinline__ void hold(float (&d)[64]) { asm volatile("" : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) :: "memory"); }
/* Without a swizzle: pieces of 16 bytes of 8 rows side by side, groups of 8 rows after each other, then the other half of k. */
__device__ __forceinline__ unsigned long long plain(const void *at, int rows) {
   return ROOM(at) >> 4 | (unsigned long long)rows << 16 | 8ull << 32;
}
__device__ __forceinline__ int plain_place(int row, int k, int rows) { return k / 8 * rows * 8 + row * 8 + k % 8; }
/* Rows of 128 bytes, of which 32 are read, in patterns of 8. */
__device__ __forceinline__ unsigned long long swizzled(unsigned at) { return at >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }
template <int adds> __device__ __forceinline__ void multiply(float (&d)[8], unsigned long long a, unsigned long long b) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, %10, 1, 1, 0, 0;"
                : EIGHT(0) : "l"(a), "l"(b), "n"(adds) : "memory");
}
__device__ __forceinline__ void multiply_rows(float (&d)[8], unsigned (&a)[4], unsigned long long b) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 1, 1, 1, 0;"
                : EIGHT(0), "+r"(a[0]), "+r"(a[1]), "+r"(a[2]), "+r"(a[3]) : "l"(b) : "memory");
}
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
                "%25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) : "l"(a), "l"(b) : "memory");
}
/* Fills operands without a swizzle, 64 rows of a and 16 of b, from matrices with 16 columns; 128 threads. */
__device__ __forceinline__ void fill(unsigned short *to, const unsigned short *from, int rows) {
   for (int n = threadIdx.x % 128; n < rows * 16; n += 128)
      to[plain_place(n / 16, n % 16, rows)] = from[n];
}
__device__ __forceinline__ void leave(float *y, const float (&d)[8]) {
   const int t = threadIdx.x % 128;
#pragma unroll
   for (int n = 0; n < 8; n++)
      y[(t / 32 * 16 + t % 32 / 4 + n / 2 % 2 * 8) * 16 + n / 4 * 8 + t % 4 * 2 + n % 2] = d[n];
}
