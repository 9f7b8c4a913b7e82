/* rkb-kernel: 1
task: bf16_swiglu_ffw
direction: forward
tune:
  TILE_M: {default: 64, choices: [32, 64, 128]}
  TILE_N: {default: 32, choices: [32, 64]}
scratch:
  hidden: {dtype: bfloat16, shape: "M, F"}
launches:
  - kernel: product<TILE_M, TILE_N, true>
    grid: ceildiv(F, TILE_N), ceildiv(M, TILE_M)
    block: 128
    args: x, gate, up, hidden, M, F, D
  - kernel: product<TILE_M, TILE_N, false>
    grid: ceildiv(D, TILE_N), ceildiv(M, TILE_M)
    block: 128
    args: hidden, down, down, y, M, D, F
*/

/* Two launches.  The first multiplies x by both matrices, tile by tile, and stores silu(gate x) * up x in bfloat16; the second
 * multiplies that by the third.  Four warps multiply with the tensor cores (mma m16n8k16 in the PTX ISA) and fp32 sums. */

#include <cuda_bf16.h>

constexpr int threads = 128, depth = 16, pitch = depth + 8; /* the pad keeps a fragment's eight rows in different banks */

template <int rows>
__device__ void load_tile(const __nv_bfloat16 *from, __nv_bfloat16 *to, int row, int row_end, int k, int K) {
   for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int r = i / depth, c = i % depth;
      to[r * pitch + c] = row + r < row_end && k + c < K ? from[(long long)(row + r) * K + k + c] : __float2bfloat16(0.0f);
   }
}

__device__ unsigned pair_at(const __nv_bfloat16 *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

__device__ void multiply(float *sums, const __nv_bfloat16 *a, const __nv_bfloat16 *w) {
   asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                "{%0, %1, %2, %3};"
                : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                : "r"(pair_at(a)), "r"(pair_at(a + 8 * pitch)), "r"(pair_at(a + 8)), "r"(pair_at(a + 8 * pitch + 8)),
                  "r"(pair_at(w)), "r"(pair_at(w + 8)));
}

/* y [M, N] = x [M, K] times first [N, K]; gated: silu of that, times x times second. */
template <int tile_m, int tile_n, bool gated>
__global__ void __launch_bounds__(threads)
   product(const __nv_bfloat16 *x, const __nv_bfloat16 *first, const __nv_bfloat16 *second, __nv_bfloat16 *y, int M, int N, int K) {
   constexpr int matrices = gated ? 2 : 1, fragments_m = tile_m / 32, fragments_n = tile_n / 16; /* two by two warps */
   __shared__ alignas(16) __nv_bfloat16 left[tile_m * pitch], right[matrices][tile_n * pitch];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   const int warp_row = warp / 2 * (tile_m / 2), warp_column = warp % 2 * (tile_n / 2);
   float sums[matrices][fragments_m][fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) {
      load_tile<tile_m>(x, left, row, M, k, K);
      load_tile<tile_n>(first, right[0], column, N, k, K);
      if (gated)
         load_tile<tile_n>(second, right[matrices - 1], column, N, k, K);
      __syncthreads();
      for (int m = 0; m < matrices; m++)
         for (int i = 0; i < fragments_m; i++)
            for (int j = 0; j < fragments_n; j++)
               multiply(sums[m][i][j], &left[(warp_row + 16 * i + group) * pitch + 2 * member],
                        &right[m][(warp_column + 8 * j + group) * pitch + 2 * member]);
      __syncthreads();
   }

   for (int i = 0; i < fragments_m; i++)
      for (int j = 0; j < fragments_n; j++)
         for (int e = 0; e < 4; e++) {
            const int r = row + warp_row + 16 * i + group + e / 2 * 8, c = column + warp_column + 8 * j + 2 * member + e % 2;
            float value = sums[0][i][j][e];
            if (gated)
               value = value / (1.0f + __expf(-value)) * sums[matrices - 1][i][j][e];
            if (r < M && c < N)
               y[(long long)r * N + c] = __float2bfloat16(value);
         }
}
