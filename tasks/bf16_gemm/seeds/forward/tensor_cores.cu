/* rkb-kernel: 1
task: bf16_gemm
direction: forward
tune:
  TILE_M: {default: 64, choices: [64, 128]}
  TILE_N: {default: 64, choices: [64, 128]}
let:
  step_m: transpose_a + (1 - transpose_a) * K  # between the elements of a along M, and along K
  step_ka: 1 + transpose_a * (M - 1)
  step_n: 1 + transpose_b * (K - 1)
  step_kb: transpose_b + (1 - transpose_b) * N
launches:
  - kernel: product<TILE_M, TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, TILE_M)
    block: 256
    args: a, b, y, M, N, K, step_m, step_ka, step_n, step_kb
*/

/* Each block computes a tile of the result with the tensor cores: tiles of both operands go through shared memory, as [M][K] and
 * [N][K] whatever their storage, and eight warps multiply them as m16n8k16 products with fp32 sums.  The result is rounded to
 * bfloat16 once.  The layout of fragments is that of mma.sync in the PTX ISA, "Matrix Fragments for mma.m16n8k16". */

#include <cuda_bf16.h>

constexpr int depth = 32, pitch = depth + 8; /* the pad keeps a fragment's eight rows in different banks */

/* Copies a tile [rows][depth] into shared memory; what lies outside the matrix becomes zero.  Threads run along the dim whose
 * elements are neighbours in memory. */
template <int rows>
__device__ void load_tile(const __nv_bfloat16 *from, __nv_bfloat16 *to, int row, int row_end, long long row_step, int k,
                          int k_end, long long k_step) {
   for (int i = threadIdx.x; i < rows * depth; i += 256) {
      const int r = k_step == 1 ? i / depth : i % rows, c = k_step == 1 ? i % depth : i / rows;
      const bool inside = row + r < row_end && k + c < k_end;
      to[r * pitch + c] = inside ? from[(row + r) * row_step + (k + c) * k_step] : __float2bfloat16(0.0f);
   }
}

__device__ unsigned pair_at(const __nv_bfloat16 *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

template <int tile_m, int tile_n>
__global__ void __launch_bounds__(256)
   product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *y, int M, int N, int K, int step_m, int step_ka,
           int step_n, int step_kb) {
   __shared__ alignas(16) __nv_bfloat16 left[tile_m * pitch], right[tile_n * pitch];
   constexpr int warps_m = 2, warps_n = 4, fragments_m = tile_m / warps_m / 16, fragments_n = tile_n / warps_n / 8;
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   const int warp_row = warp / warps_n * (tile_m / warps_m), warp_column = warp % warps_n * (tile_n / warps_n);
   float sums[fragments_m][fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) {
      load_tile<tile_m>(a, left, row, M, step_m, k, K, step_ka);
      load_tile<tile_n>(b, right, column, N, step_n, k, K, step_kb);
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         unsigned x[fragments_m][4], w[fragments_n][2];
         for (int i = 0; i < fragments_m; i++) {
            const __nv_bfloat16 *at = &left[(warp_row + 16 * i + group) * pitch + part + 2 * member];
            x[i][0] = pair_at(at);
            x[i][1] = pair_at(at + 8 * pitch);
            x[i][2] = pair_at(at + 8);
            x[i][3] = pair_at(at + 8 * pitch + 8);
         }
         for (int j = 0; j < fragments_n; j++) {
            const __nv_bfloat16 *at = &right[(warp_column + 8 * j + group) * pitch + part + 2 * member];
            w[j][0] = pair_at(at);
            w[j][1] = pair_at(at + 8);
         }
         for (int i = 0; i < fragments_m; i++)
            for (int j = 0; j < fragments_n; j++)
               asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                            "{%0, %1, %2, %3};"
                            : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                            : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(w[j][0]), "r"(w[j][1]));
      }
      __syncthreads();
   }

   for (int i = 0; i < fragments_m; i++)
      for (int j = 0; j < fragments_n; j++)
         for (int e = 0; e < 4; e++) {
            const int r = row + warp_row + 16 * i + group + e / 2 * 8, c = column + warp_column + 8 * j + 2 * member + e % 2;
            if (r < M && c < N)
               y[(long long)r * N + c] = __float2bfloat16(sums[i][j][e]);
         }
}
