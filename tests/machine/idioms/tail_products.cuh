// Products of bfloat16 whose terms are no multiple of a tile's, for the kernels in this folder: 16 rows, 8 columns, 40 terms.  A row has 48 numbers;
// those behind the terms belong to nobody.
#pragma once
#define TERMS 40
#define PITCH 48
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
__device__ __forceinline__ float value(unsigned short code) { return __uint_as_float((unsigned)code << 16); }
/* Of tiles with 16 terms a row. */
__device__ __forceinline__ void add_tile(float (&d)[4], const unsigned short *sa, const unsigned short *sb) {
   const int lane = threadIdx.x;
   unsigned a[4], b[2];
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(ROOM(&sa[lane % 16 * 16 + lane / 16 * 8])) : "memory");
   asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                : "=r"(b[0]), "=r"(b[1]) : "r"(ROOM(&sb[lane % 8 * 16 + lane / 8 % 2 * 8])) : "memory");
   asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
/* Stores the sums, which must be those of a plain loop. */
__device__ __forceinline__ void leave_sums(float *y, const float (&d)[4], const unsigned short *a, const unsigned short *b) {
   for (int n = 0; n < 4; n++) {
      const int row = threadIdx.x / 4 + n / 2 * 8, column = threadIdx.x % 4 * 2 + n % 2;
      float sum = 0, size = 0;
      for (int k = 0; k < TERMS; k++) {
         const float term = value(a[row * PITCH + k]) * value(b[column * PITCH + k]);
         sum += term;
         size += fabsf(term);
      }
      if (fabsf(sum - d[n]) > 1e-5f * size)
         __trap();
      y[row * 8 + column] = d[n];
   }
}
