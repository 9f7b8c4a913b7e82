/* rkb-kernel: 1
task: fp8_gemm
direction: forward
tune:
  TILE_M: {default: 64, choices: [32, 64, 128]}
  TILE_N: {default: 64, choices: [32, 64, 128]}
launches:
  - kernel: product<TILE_M, TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, TILE_M)
    block: 128
    args: x, x_scale, weight, weight_scale, y, M, N, K, G
*/

/* Each block computes a tile of the result: bytes of both operands go through shared memory, and four warps multiply them with the
 * tensor cores (mma m16n8k32 in the PTX ISA).  Their sums keep 13 bits below the largest term, so they are scaled and added in
 * fp32 after each group of inputs, as DeepSeek-V3's technical report does (arXiv:2412.19437, section 3.3.2). */

#include <cuda_bf16.h>

constexpr int threads = 128, depth = 32, pitch = depth + 16; /* the pad keeps a fragment's eight rows in different banks */

/* Copies a tile [rows][depth] of bytes into shared memory; what lies outside the matrix becomes zero. */
template <int rows>
__device__ void load_tile(const unsigned char *from, unsigned char *to, int row, int row_end, int K, int k, int k_end) {
   for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int r = i / depth, c = i % depth;
      to[r * pitch + c] = row + r < row_end && k + c < k_end ? from[(long long)(row + r) * K + k + c] : 0;
   }
}

__device__ unsigned word_at(const unsigned char *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

template <int tile_m, int tile_n>
__global__ void __launch_bounds__(threads)
   product(const unsigned char *x, const float *x_scale, const unsigned char *weight, const float *weight_scale,
           __nv_bfloat16 *y, int M, int N, int K, int G) {
   __shared__ alignas(16) unsigned char left[tile_m * pitch], right[tile_n * pitch];
   constexpr int fragments_m = tile_m / 32, fragments_n = tile_n / 16; /* two by two warps */
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.y * tile_m + warp / 2 * (tile_m / 2), column = blockIdx.x * tile_n + warp % 2 * (tile_n / 2);
   const int warp_row = warp / 2 * (tile_m / 2), warp_column = warp % 2 * (tile_n / 2), groups = K / G;
   float sums[fragments_m][fragments_n][4] = {}, parts[fragments_m][fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) {
      load_tile<tile_m>(x, left, blockIdx.y * tile_m, M, K, k, K);
      load_tile<tile_n>(weight, right, blockIdx.x * tile_n, N, K, k, K);
      __syncthreads();
      for (int j = 0; j < fragments_n; j++) {
         const unsigned char *w = &right[(warp_column + 8 * j + group) * pitch + 4 * member];
         for (int i = 0; i < fragments_m; i++) {
            const unsigned char *a = &left[(warp_row + 16 * i + group) * pitch + 4 * member];
            asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(parts[i][j][0]), "+f"(parts[i][j][1]), "+f"(parts[i][j][2]), "+f"(parts[i][j][3])
                         : "r"(word_at(a)), "r"(word_at(a + 8 * pitch)), "r"(word_at(a + 16)), "r"(word_at(a + 8 * pitch + 16)),
                           "r"(word_at(w)), "r"(word_at(w + 16)));
         }
      }
      __syncthreads();
      if ((k + depth) % G != 0)
         continue;
      for (int i = 0; i < fragments_m; i++)
         for (int j = 0; j < fragments_n; j++)
            for (int e = 0; e < 4; e++) {
               const int r = row + 16 * i + group + e / 2 * 8, c = column + 8 * j + 2 * member + e % 2;
               if (r < M && c < N)
                  sums[i][j][e] += parts[i][j][e] * x_scale[(long long)r * groups + k / G] *
                                   weight_scale[(long long)(c / G) * groups + k / G];
               parts[i][j][e] = 0.0f;
            }
   }

   for (int i = 0; i < fragments_m; i++)
      for (int j = 0; j < fragments_n; j++)
         for (int e = 0; e < 4; e++) {
            const int r = row + 16 * i + group + e / 2 * 8, c = column + 8 * j + 2 * member + e % 2;
            if (r < M && c < N)
               y[(long long)r * N + c] = __float2bfloat16(sums[i][j][e]);
         }
}
