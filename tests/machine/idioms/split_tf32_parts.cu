// why: a product of float32 by three products of TF32: high parts, and each low part with the other's high one; held in the kernel to a plain
// why: loop; the broken twin leaves out one correction, which only precision shows
// buffer: a in f32 512 noise
// buffer: b in f32 256 noise
// buffer: y out f32 128
// launch: product grid=1 block=32 args=a,b,y
// expect: pass
// broken: reject plan.trap
#define K 32
__device__ __forceinline__ void split(float x, unsigned &high, unsigned &low) {
   asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(high) : "f"(x));
   asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(low) : "f"(x - __uint_as_float(high)));
}
__device__ __forceinline__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
   asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
extern "C" __global__ void product(const float *a, const float *b, float *y) {
   const int group = threadIdx.x / 4, member = threadIdx.x % 4;
   float d[4] = {0, 0, 0, 0};
   for (int k = 0; k < K; k += 8) {
      unsigned left[4], left_low[4], right[2], right_low[2];
      for (int n = 0; n < 4; n++)
         split(a[(group + n % 2 * 8) * K + k + member + n / 2 * 4], left[n], left_low[n]);
      for (int n = 0; n < 2; n++)
         split(b[group * K + k + member + n * 4], right[n], right_low[n]);
      multiply(d, left_low, right);
#ifndef BROKEN
      multiply(d, left, right_low);
#endif
      multiply(d, left, right);
   }
   for (int n = 0; n < 4; n++) {
      const int row = group + n / 2 * 8, column = member * 2 + n % 2;
      float sum = 0, size = 0;
      for (int k = 0; k < K; k++) {
         const float term = a[row * K + k] * b[column * K + k];
         sum += term;
         size += fabsf(term);
      }
      if (fabsf(sum - d[n]) > 4e-6f * size)
         __trap();
      y[row * 8 + column] = d[n];
   }
}
