// why: products of e4m3 by mma, whose partial sums are added to ordinary ones after each 128 terms and start anew; in the broken twin they do not, and
// why: count again.  On compute capability 9.0 mma takes these numbers as halves, so only what comes before it needs the promotion
// buffer: a in u8 16384 ramp
// buffer: b in u8 8192 ramp
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#include "eight_bit_sums.cuh"
#define K 1024
#define GROUP 128
__device__ __forceinline__ unsigned word(const unsigned char *at) {
   return *reinterpret_cast<const unsigned *>(at);
}
extern "C" __global__ void product(const unsigned char *a, const unsigned char *b, float *y) {
   const int group = threadIdx.x / 4, member = threadIdx.x % 4;
   float sums[4] = {0, 0, 0, 0}, parts[4] = {0, 0, 0, 0};
   for (int k = 0; k < K; k += 32) {
      const unsigned char *left = &a[group * K + k + member * 4], *right = &b[group * K + k + member * 4];
      asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(parts[0]), "+f"(parts[1]), "+f"(parts[2]), "+f"(parts[3])
                   : "r"(word(left)), "r"(word(left + 8 * K)), "r"(word(left + 16)), "r"(word(left + 8 * K + 16)), "r"(word(right)),
                     "r"(word(right + 16)));
      if ((k + 32) % GROUP != 0)
         continue;
      for (int n = 0; n < 4; n++) {
         sums[n] += parts[n];
#ifndef BROKEN
         parts[n] = 0;
#endif
      }
   }
   for (int n = 0; n < 4; n++) {
      const int row = group + n / 2 * 8, column = member * 2 + n % 2;
      hold_to_loop(sums[n], &a[row * K], &b[column * K], K, nullptr);
      y[row * 8 + column] = sums[n];
   }
}
