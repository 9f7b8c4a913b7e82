/* rkb-kernel: 1
task: w4a16_gemm
direction: forward
tune:
  TILE_M: {default: 32, choices: [32, 64, 128]}
  TILE_N: {default: 64, choices: [32, 64, 128]}
launches:
  - kernel: product<TILE_M, TILE_N>
    grid: ceildiv(N, TILE_N), ceildiv(M, TILE_M)
    block: 128
    args: x, packed, scale, y, M, N, K, G
*/

/* Each block computes a tile of the result.  Weights are unpacked, scaled and rounded to bfloat16 on their way into shared memory;
 * four warps multiply with the tensor cores (mma m16n8k16 in the PTX ISA) and fp32 sums. */

#include <cuda_bf16.h>

constexpr int threads = 128, depth = 16, pitch = depth + 8; /* the pad keeps a fragment's eight rows in different banks */

__device__ unsigned pair_at(const __nv_bfloat16 *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

template <int tile_m, int tile_n>
__global__ void __launch_bounds__(threads)
   product(const __nv_bfloat16 *x, const unsigned char *packed, const __nv_bfloat16 *scale, __nv_bfloat16 *y, int M, int N, int K,
           int G) {
   __shared__ alignas(16) __nv_bfloat16 left[tile_m * pitch], right[tile_n * pitch];
   constexpr int fragments_m = tile_m / 32, fragments_n = tile_n / 16; /* two by two warps */
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.y * tile_m, column = blockIdx.x * tile_n;
   const int warp_row = warp / 2 * (tile_m / 2), warp_column = warp % 2 * (tile_n / 2);
   float sums[fragments_m][fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) { /* K is a multiple of 16, and so is G */
      for (int i = threadIdx.x; i < tile_m * depth; i += threads) {
         const int r = row + i / depth;
         left[i / depth * pitch + i % depth] = r < M ? x[(long long)r * K + k + i % depth] : __float2bfloat16(0.0f);
      }
      for (int i = threadIdx.x; i < tile_n * depth / 2; i += threads) {
         const int n = column + i / (depth / 2), c = 2 * (i % (depth / 2));
         const unsigned both = n < N ? packed[((long long)n * K + k + c) / 2] : 0u;
         const float factor = n < N ? __bfloat162float(scale[(long long)n * (K / G) + k / G]) : 0.0f;
         __nv_bfloat16 *to = &right[i / (depth / 2) * pitch + c];
         to[0] = __float2bfloat16((float)((int)(both & 15) - 8) * factor);
         to[1] = __float2bfloat16((float)((int)(both >> 4) - 8) * factor);
      }
      __syncthreads();
      for (int j = 0; j < fragments_n; j++) {
         const __nv_bfloat16 *w = &right[(warp_column + 8 * j + group) * pitch + 2 * member];
         for (int i = 0; i < fragments_m; i++) {
            const __nv_bfloat16 *a = &left[(warp_row + 16 * i + group) * pitch + 2 * member];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(sums[i][j][0]), "+f"(sums[i][j][1]), "+f"(sums[i][j][2]), "+f"(sums[i][j][3])
                         : "r"(pair_at(a)), "r"(pair_at(a + 8 * pitch)), "r"(pair_at(a + 8)), "r"(pair_at(a + 8 * pitch + 8)),
                           "r"(pair_at(w)), "r"(pair_at(w + 8)));
         }
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
