// why: a product of bfloat16 matrices by two warpgroups, 128 x 128 a block: cp.async into three buffers of a 128-byte swizzle, and the
// why: products of one buffer on their way while the next is filled
// buffer: a in bf16 131072 noise
// buffer: b in bf16 131072 noise
// buffer: y out f32 65536
// launch: gemm grid=2,2 block=256 shared=99328 args=a,b,y
// expect: pass
#define N 256
#define K 512
#define TILE 128
#define STEP 64
#define STAGES 3
#define ROOM(p) ((unsigned)__cvta_generic_to_shared(p))
#define FOUR(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(i) FOUR(i), FOUR(i + 4), FOUR(i + 8), FOUR(i + 12)
/* Registers that a product may be using are given to the compiler again. */
__device__ __forceinline__ void hold(float (&d)[64]) {
   asm volatile("" : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) :: "memory");
}
__device__ __forceinline__ void multiply(float (&d)[64], unsigned long long a, unsigned long long b) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, "
                "%25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0;"
                : SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48) : "l"(a), "l"(b) : "memory");
}
__device__ __forceinline__ unsigned long long descriptor(unsigned at) {
   return at >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}
/* Rows of 128 bytes, whose pieces of 16 are exchanged by the row. */
__device__ __forceinline__ void fill(unsigned to, const unsigned short *from, int t) {
   for (int n = t; n < TILE * STEP / 8; n += 256) {
      const int row = n / 8, piece = n % 8;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                   :: "r"(to + row * 128 + ((piece ^ row & 7) << 4)), "l"(from + row * K + piece * 8) : "memory");
   }
}
extern "C" __global__ void __launch_bounds__(256) gemm(const unsigned short *a, const unsigned short *b, float *y) {
   extern __shared__ __align__(1024) unsigned char room[];
   const unsigned base = (ROOM(room) + 1023) & ~1023u;
   const int t = threadIdx.x, group = t / 128, lane = t % 32, warp = t / 32 % 4;
   a += blockIdx.y * TILE * K;
   b += blockIdx.x * TILE * K; /* column-major: n by k */
   float d[64];
#pragma unroll
   for (int n = 0; n < 64; n++)
      d[n] = 0;
   for (int stage = 0; stage < STAGES - 1; stage++) {
      fill(base + stage * 32768, a + stage * STEP, t);
      fill(base + stage * 32768 + 16384, b + stage * STEP, t);
      asm volatile("cp.async.commit_group;" ::: "memory");
   }
   for (int step = 0; step < K / STEP; step++) {
      const unsigned at = base + step % STAGES * 32768;
      asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
      asm volatile("fence.proxy.async;" ::: "memory");
      __syncthreads();
      hold(d);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < STEP; k += 16)
         multiply(d, descriptor(at + group * 8192 + 2 * k), descriptor(at + 16384 + 2 * k));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      hold(d);
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
      __syncthreads(); /* the products of the step before are done in every warp */
      if (step + STAGES - 1 < K / STEP) {
         const int next = step + STAGES - 1;
         fill(base + next % STAGES * 32768, a + next * STEP, t);
         fill(base + next % STAGES * 32768 + 16384, b + next * STEP, t);
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
   }
   asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
   hold(d);
#pragma unroll
   for (int n = 0; n < 64; n++) {
      const int row = group * 64 + warp * 16 + lane / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + lane % 4 * 2 + n % 2;
      y[(blockIdx.y * TILE + row) * N + blockIdx.x * TILE + column] = d[n];
   }
}
