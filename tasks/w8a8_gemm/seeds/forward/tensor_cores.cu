/* rkb-kernel: 1
task: w8a8_gemm
direction: forward
tune:
  TILE_M: {default: 64, choices: [32, 64, 128]}
  TILE_N: {default: 64, choices: [32, 64, 128]}
launches:
  - kernel: product<TILE_M, TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, TILE_M)
    block: 128
    args: x, weight, x_scale, weight_scale, y, M, N, K
*/

/* Each block computes a tile of the result: bytes of both operands go through shared memory, four warps multiply them with the
 * integer tensor cores (mma m16n8k32 in the PTX ISA), whose int32 sums are exact, and the scales come last. */

#include <cuda_bf16.h>

constexpr int threads = 128, depth = 64, pitch = depth + 16; /* the pad keeps a fragment's eight rows in different banks */

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
   product(const signed char *x, const signed char *weight, const float *x_scale, const float *weight_scale, __nv_bfloat16 *y,
           int M, int N, int K) {
   __shared__ alignas(16) unsigned char left[tile_m * pitch], right[tile_n * pitch];
   constexpr int fragments_m = tile_m / 32, fragments_n = tile_n / 16; /* two by two warps */
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   const int warp_row = warp / 2 * (tile_m / 2), warp_column = warp % 2 * (tile_n / 2);
   int sums[fragments_m][fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) {
      load_tile<tile_m>(reinterpret_cast<const unsigned char *>(x), left, row, M, K, k, K);
      load_tile<tile_n>(reinterpret_cast<const unsigned char *>(weight), right, column, N, K, k, K);
      __syncthreads();
      for (int part = 0; part < depth; part += 32)
         for (int j = 0; j < fragments_n; j++) {
            const unsigned char *w = &right[(warp_column + 8 * j + group) * pitch + part + 4 * member];
            for (int i = 0; i < fragments_m; i++) {
               const unsigned char *a = &left[(warp_row + 16 * i + group) * pitch + part + 4 * member];
               asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                            "{%0, %1, %2, %3};"
                            : "+r"(sums[i][j][0]), "+r"(sums[i][j][1]), "+r"(sums[i][j][2]), "+r"(sums[i][j][3])
                            : "r"(word_at(a)), "r"(word_at(a + 8 * pitch)), "r"(word_at(a + 16)),
                              "r"(word_at(a + 8 * pitch + 16)), "r"(word_at(w)), "r"(word_at(w + 16)));
            }
         }
      __syncthreads();
   }

   for (int i = 0; i < fragments_m; i++)
      for (int j = 0; j < fragments_n; j++)
         for (int e = 0; e < 4; e++) {
            const int r = row + warp_row + 16 * i + group + e / 2 * 8, c = column + warp_column + 8 * j + 2 * member + e % 2;
            if (r < M && c < N)
               y[(long long)r * N + c] = __float2bfloat16((float)sums[i][j][e] * x_scale[r] * weight_scale[c]);
         }
}
