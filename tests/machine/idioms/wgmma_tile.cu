// why: a product of halves by a warpgroup, operands without a swizzle, held in the kernel to plain loops over small integers; the twin
// why: writes the operands and does not tell the async proxy
// buffer: a in f16 1024 ramp
// buffer: b in f16 512 ramp
// buffer: y out f32 2048
// launch: tile grid=1 block=128 args=a,b,y
// expect: pass
// broken: reject race.proxy
#define ROOM(p) ((unsigned long long)__cvta_generic_to_shared(p))
/* rows of 8 halves side by side, groups of 8 rows, then the other half of k */
__device__ int place(int row, int k, int rows) {
   return k / 8 * rows * 8 + row * 8 + k % 8;
}
__device__ float value(unsigned short half) {
   float f;
   asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(half));
   return f;
}
extern "C" __global__ void tile(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[512];
   const int t = threadIdx.x;
   for (int n = t; n < 1024; n += 128)
      sa[place(n / 16, n % 16, 64)] = a[n];
   for (int n = t; n < 512; n += 128)
      sb[place(n / 16, n % 16, 32)] = b[n];
#ifndef BROKEN
   asm volatile("fence.proxy.async;" ::: "memory");
#endif
   __syncthreads();
   const unsigned long long from_a = ROOM(sa) >> 4 | 64ull << 16 | 8ull << 32, from_b = ROOM(sb) >> 4 | 32ull << 16 | 8ull << 32;
   float d[16];
   asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
   asm volatile("{.reg .pred p; setp.ne.b32 p, 0, 0;\n"
                "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1, 0, 0;\n"
                "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;}"
                : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7]), "=f"(d[8]),
                  "=f"(d[9]), "=f"(d[10]), "=f"(d[11]), "=f"(d[12]), "=f"(d[13]), "=f"(d[14]), "=f"(d[15])
                : "l"(from_a), "l"(from_b) : "memory");
   for (int n = 0; n < 16; n++) {
      const int row = t / 32 * 16 + t % 32 / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + t % 4 * 2 + n % 2;
      float sum = 0;
      for (int k = 0; k < 16; k++)
         sum += value(a[row * 16 + k]) * value(b[column * 16 + k]);
      if (sum != d[n])
         __trap();
      y[row * 32 + column] = d[n];
   }
}
