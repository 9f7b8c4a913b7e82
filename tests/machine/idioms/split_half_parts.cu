// why: a product of float32 by three products of halves: low parts are scaled, so that they are normal numbers, and their products have sums of
// why: their own; the broken twin leaves out one of them
// buffer: a in f32 512 noise
// buffer: b in f32 256 noise
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#define K 32
#define SCALE 2048.0f
/* Two numbers as halves, and what the halves leave of them. */
__device__ __forceinline__ void split(const float *x, unsigned &high, unsigned &low) {
   float first, second;
   asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(high) : "f"(x[1]), "f"(x[0]));
   asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}" : "=f"(first), "=f"(second) : "r"(high));
   asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(low) : "f"((x[1] - second) * SCALE), "f"((x[0] - first) * SCALE));
}
extern "C" __global__ void product(const float *a, const float *b, float *y) {
   const int group = threadIdx.x / 4, member = threadIdx.x % 4;
   float d[4] = {0, 0, 0, 0}, rest[4] = {0, 0, 0, 0};
   for (int k = 0; k < K; k += 16) {
      unsigned a_hi[4], a_lo[4], b_hi[2], b_lo[2];
      for (int n = 0; n < 4; n++)
         split(&a[(group + n % 2 * 8) * K + k + member * 2 + n / 2 * 8], a_hi[n], a_lo[n]);
      for (int n = 0; n < 2; n++)
         split(&b[group * K + k + member * 2 + n * 8], b_hi[n], b_lo[n]);
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                   : "r"(a_hi[0]), "r"(a_hi[1]), "r"(a_hi[2]), "r"(a_hi[3]), "r"(b_hi[0]), "r"(b_hi[1]));
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(rest[0]), "+f"(rest[1]), "+f"(rest[2]), "+f"(rest[3])
                   : "r"(a_lo[0]), "r"(a_lo[1]), "r"(a_lo[2]), "r"(a_lo[3]), "r"(b_hi[0]), "r"(b_hi[1]));
#ifndef BROKEN
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                   : "+f"(rest[0]), "+f"(rest[1]), "+f"(rest[2]), "+f"(rest[3])
                   : "r"(a_hi[0]), "r"(a_hi[1]), "r"(a_hi[2]), "r"(a_hi[3]), "r"(b_lo[0]), "r"(b_lo[1]));
#endif
   }
   for (int n = 0; n < 4; n++) {
      const int row = group + n / 2 * 8, column = member * 2 + n % 2;
      const float result = d[n] + rest[n] * (1 / SCALE);
      float sum = 0, size = 0;
      for (int k = 0; k < K; k++) {
         const float term = a[row * K + k] * b[column * K + k];
         sum += term;
         size += fabsf(term);
      }
      if (fabsf(sum - result) > 4e-6f * size)
         __trap();
      y[row * 8 + column] = result;
   }
}
