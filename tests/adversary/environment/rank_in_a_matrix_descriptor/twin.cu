/* rkb-kernel: 1
task: bf16_gemm
direction: forward
launches:
  - kernel: product
    cluster: 2
    grid: 2 * ceildiv(M, 128), ceildiv(N, 16)
    block: 128
    args: a, b, y, M, N, K, transpose_a, transpose_b
*/

#include <cuda_bf16.h>

/* Groups of eight rows, 16 bytes each, for eight terms; then those of the next eight terms. */
__device__ void stage(const __nv_bfloat16 *from, __nv_bfloat16 *to, int rows, int row, int row_end, int k, int k_end, long long row_step,
                      long long k_step) {
   for (int i = threadIdx.x; i < rows * 16; i += 128) {
      const int r = i / 16, c = i % 16;
      const bool inside = row + r < row_end && k + c < k_end;
      to[c / 8 * rows * 8 + r * 8 + c % 8] = inside ? from[(row + r) * row_step + (k + c) * k_step] : __float2bfloat16(0.0f);
   }
}

__device__ unsigned long long matrix(const void *at, int rows) {
   const unsigned address = (unsigned)__cvta_generic_to_shared(at) & 0x3ffff;
   return address >> 4 | (unsigned long long)rows << 16 | 8ull << 32;
}

__global__ void __launch_bounds__(128) product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y, int M, int N, int K, int transpose_a, int transpose_b) {
   __shared__ alignas(128) __nv_bfloat16 left[64 * 16], right[16 * 16];
   const int row = blockIdx.x * 64, column = blockIdx.y * 16;
   float d[8] = {};
   for (int k = 0; k < K; k += 16) {
      stage(a, left, 64, row, M, k, K, transpose_a ? 1 : K, transpose_a ? M : 1);
      stage(b, right, 16, column, N, k, K, transpose_b ? K : 1, transpose_b ? 1 : N);
      asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
      __syncthreads();
      asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : : "memory");
      asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
      asm volatile("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, 1, 1, 1, 0, 0;"
                   : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
                   : "l"(matrix(left, 64)), "l"(matrix(right, 16))
                   : "memory");
      asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory");
      asm volatile("" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]) : : "memory");
      __syncthreads();
   }
   for (int n = 0; n < 8; n++) {
      const int r = row + threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4 + n / 2 % 2 * 8, c = column + n / 4 * 8 + threadIdx.x % 4 * 2 + n % 2;
      if (r < M && c < N)
         y[(long long)r * N + c] = __float2bfloat16(d[n]);
   }
}
