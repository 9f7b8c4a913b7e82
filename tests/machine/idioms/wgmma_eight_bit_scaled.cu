// why: products of e4m3 by a warpgroup, each 128 terms of which have a scale: partial sums are scaled, added to ordinary ones and set to zero; in
// why: the broken twin they are not, and count again
// buffer: a in u8 65536 ramp
// buffer: b in u8 16384 ramp
// buffer: scales in f32 8 ramp
// buffer: y out f32 1024
// launch: product grid=1 block=128 shared=81920 args=a,b,scales,y
// expect: pass
// broken: reject plan.trap
#include "eight_bit_sums.cuh"
#include "warpgroups.cuh"
#define K 1024
#define GROUP 128
/* Without a swizzle: pieces of 16 bytes of 8 rows side by side, groups of 8 rows after each other, then the next 16 terms. */
__device__ __forceinline__ int place_of(int row, int k, int rows) { return (k / 16 * rows + row) * 16 + k % 16; }
__device__ __forceinline__ void multiply_bytes(float (&d)[8], unsigned long long a, unsigned long long b) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1;"
                : EIGHT(0) : "l"(a), "l"(b) : "memory");
}
extern "C" __global__ void product(const unsigned char *a, const unsigned char *b, const float *scales, float *y) {
   extern __shared__ __align__(128) unsigned char room[];
   unsigned char *const sa = room, *const sb = room + 64 * K;
   for (int n = threadIdx.x; n < 64 * K; n += 128)
      sa[place_of(n / K, n % K, 64)] = a[n];
   for (int n = threadIdx.x; n < 16 * K; n += 128)
      sb[place_of(n / K, n % K, 16)] = b[n];
   proxy_fence();
   __syncthreads();
   float sums[8] = {0, 0, 0, 0, 0, 0, 0, 0}, parts[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   for (int k = 0; k < K; k += GROUP) {
      hold(parts);
      group_fence();
      for (int step = 0; step < GROUP; step += 32)
         multiply_bytes(parts, plain(sa + place_of(0, k + step, 64), 64), plain(sb + place_of(0, k + step, 16), 16));
      group_commit();
      group_wait<0>();
      hold(parts);
      for (int n = 0; n < 8; n++) {
         sums[n] += parts[n] * scales[k / GROUP];
#ifndef BROKEN
         parts[n] = 0;
#endif
      }
   }
   const int t = threadIdx.x;
   for (int n = 0; n < 8; n++) {
      const int row = t / 32 * 16 + t % 32 / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + t % 4 * 2 + n % 2;
      if (n == 7)
         hold_to_loop(sums[n], &a[row * K], &b[column * K], K, scales);
   }
   leave(y, sums);
}
