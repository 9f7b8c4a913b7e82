// why: a product of halves by ldmatrix and mma, held in the kernel to plain loops over small integers: fragments as the manual's
// why: figures have them; with two registers of the first factor exchanged the sums are others
// buffer: a in f16 256 ramp
// buffer: b in f16 128 ramp
// buffer: y out f32 128
// launch: tile grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#ifndef BROKEN
#define SECOND a1
#define THIRD a2
#else
#define SECOND a2
#define THIRD a1
#endif
__device__ float value(unsigned short half) {
   float f;
   asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(half));
   return f;
}
extern "C" __global__ void tile(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(16) unsigned short sa[16][16], sb[16][8]; /* both by row: b is turned as it is loaded */
   const int t = threadIdx.x;
   for (int n = t; n < 256; n += 32)
      sa[n / 16][n % 16] = a[n];
   for (int n = t; n < 128; n += 32)
      sb[n / 8][n % 8] = b[n];
   __syncwarp();
   unsigned a0, a1, a2, a3, b0, b1;
   const unsigned from_a = (unsigned)__cvta_generic_to_shared(&sa[t % 16][t / 16 * 8]),
                  from_b = (unsigned)__cvta_generic_to_shared(&sb[t % 16][0]);
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(from_a) : "memory");
   asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(b0), "=r"(b1) : "r"(from_b) : "memory");
   float d[4] = {0, 0, 0, 0};
   asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "r"(a0), "r"(SECOND), "r"(THIRD), "r"(a3), "r"(b0), "r"(b1));
   for (int n = 0; n < 4; n++) {
      const int row = t / 4 + n / 2 * 8, column = t % 4 * 2 + n % 2;
      float sum = 0;
      for (int k = 0; k < 16; k++)
         sum += value(a[row * 16 + k]) * value(b[k * 8 + column]);
      if (sum != d[n])
         __trap();
      y[row * 8 + column] = d[n];
   }
}
