// What kernels with products of e4m3 in this folder hold their sums to: the accumulators of wgmma keep 13 bits below the largest term, so partial sums of
// 128 terms are added to ordinary ones, as DeepSeek-V3's technical report does (arXiv:2412.19437, section 3.3.2).
#pragma once
__device__ __forceinline__ float value(unsigned char code) {
   unsigned halves;
   float x;
   asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"((unsigned short)code));
   asm("{.reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l;}" : "=f"(x) : "r"(halves));
   return x;
}
/* Both rows have so many terms, none of which is negative; each 128 have a scale of their own, or none (nullptr). */
__device__ __forceinline__ void hold_to_loop(float found, const unsigned char *a, const unsigned char *b, int terms, const float *scales) {
   float sum = 0;
   for (int k = 0; k < terms; k++)
      sum += value(a[k]) * value(b[k]) * (scales ? scales[k / 128] : 1.0f);
   if (fabsf(sum - found) > 0.004f * sum)
      __trap();
}
