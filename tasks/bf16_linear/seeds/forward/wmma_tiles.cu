/* rkb-kernel: 1
task: bf16_linear
direction: forward
tune:
  TILE_N: {default: 64, choices: [32, 64, 128]}
launches:
  - kernel: linear<TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, 64)
    block: 128
    args: x, weight, bias, y, M, N, K
*/

/* Each block computes 64 rows by TILE_N columns.  Its four warps take 16 rows each and multiply tiles of 16 by 16 by 16 with the tensor
 * cores, through the CUDA toolkit's wmma.  The sums are fp32; a warp lays them out in shared memory, adds the bias and rounds once. */

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile_m = 64, depth = 32, threads = 128;

template <int rows>
__device__ void fetch(const __nv_bfloat16 *from, __nv_bfloat16 (*to)[depth + 8], int row, int row_end, int k, int K) {
   for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int r = i / depth, c = i % depth;
      to[r][c] = row + r < row_end && k + c < K ? from[(long long)(row + r) * K + k + c] : __float2bfloat16(0.0f);
   }
}

template <int tile_n>
__global__ void __launch_bounds__(128)
   linear(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias, __nv_bfloat16 *y, int M, int N, int K) {
   __shared__ alignas(32) __nv_bfloat16 left[tile_m][depth + 8], right[tile_n][depth + 8];
   __shared__ alignas(32) float laid_out[4][16][16];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[tile_n / 16];
   for (int j = 0; j < tile_n / 16; j++)
      wmma::fill_fragment(sums[j], 0.0f);
   for (int k = 0; k < K; k += depth) {
      fetch<tile_m>(x, left, row, M, k, K);
      fetch<tile_n>(weight, right, column, N, k, K);
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
         wmma::load_matrix_sync(a, &left[warp * 16][part], depth + 8);
         for (int j = 0; j < tile_n / 16; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b;
            wmma::load_matrix_sync(b, &right[j * 16][part], depth + 8);
            wmma::mma_sync(sums[j], a, b, sums[j]);
         }
      }
      __syncthreads();
   }
   for (int j = 0; j < tile_n / 16; j++) {
      wmma::store_matrix_sync(&laid_out[warp][0][0], sums[j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < 256; i += 32) {
         const int r = row + warp * 16 + i / 16, c = column + j * 16 + i % 16;
         if (r < M && c < N)
            y[(long long)r * N + c] = __float2bfloat16(laid_out[warp][i / 16][i % 16] + __bfloat162float(bias[c]));
      }
      __syncwarp();
   }
}
