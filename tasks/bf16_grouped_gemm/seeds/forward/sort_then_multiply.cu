/* rkb-kernel: 1
task: bf16_grouped_gemm
direction: forward
tune:
  TILE_N: {default: 32, choices: [32, 64, 128]}
let:
  TILES: ceildiv(M, 32) + E  # at most: each expert's last tile may be part full
scratch:
  order: {dtype: int32, shape: "M"}
  tiles: {dtype: int32, shape: "TILES, 3"}
launches:
  - kernel: sort_rows
    grid: 1
    block: 256
    args: expert, order, tiles, M, E, TILES
  - kernel: product<TILE_N>
    grid: ceildiv(N, TILE_N), TILES
    block: 128
    args: x, weight, order, tiles, y, N, K
*/

/* The first launch lists the rows by expert and cuts each expert's rows into tiles of 32; the second multiplies tiles with the tensor
 * cores (mma m16n8k16 in the PTX ISA).  One block sorts: a thread owns an expert and walks over the rows, so the order is always the
 * same. */

#include <cuda_bf16.h>

constexpr int threads = 128, tile_m = 32, depth = 16, pitch = depth + 8; /* the pad keeps a fragment's eight rows in different banks */

/* tiles: expert, first place in order, rows; rows 0: an unused tile. */
__global__ void sort_rows(const int *expert, int *order, int *tiles, int M, int E, int most) {
   __shared__ int rows[256], first[256], first_tile[256], used;
   const int own = threadIdx.x;
   int count = 0;
   for (int i = 0; own < E && i < M; i++)
      count += expert[i] == own;
   rows[own] = count;
   __syncthreads();
   if (own == 0) {
      int place = 0, tile = 0;
      for (int e = 0; e < E; e++) {
         first[e] = place;
         first_tile[e] = tile;
         place += rows[e];
         tile += (rows[e] + tile_m - 1) / tile_m;
      }
      used = tile;
   }
   __syncthreads();
   if (own < E) {
      int place = first[own];
      for (int i = 0; i < M; i++)
         if (expert[i] == own)
            order[place++] = i;
      for (int t = 0; t * tile_m < count; t++) {
         int *tile = tiles + 3 * (first_tile[own] + t);
         tile[0] = own;
         tile[1] = first[own] + t * tile_m;
         tile[2] = count - t * tile_m < tile_m ? count - t * tile_m : tile_m;
      }
   }
   for (int t = used + own; t < most; t += 256)
      tiles[3 * t + 2] = 0;
}

__device__ unsigned pair_at(const __nv_bfloat16 *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

template <int tile_n>
__global__ void __launch_bounds__(threads) product(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const int *order, const int *tiles,
                                                   __nv_bfloat16 *y, int N, int K) {
   __shared__ alignas(16) __nv_bfloat16 left[tile_m * pitch], right[tile_n * pitch];
   constexpr int fragments_n = tile_n / 16; /* two by two warps, each of 16 rows */
   const int *tile = tiles + 3 * blockIdx.y;
   const int rows = tile[2];
   if (rows == 0)
      return;
   const int *listed = order + tile[1];
   const __nv_bfloat16 *own_weight = weight + (long long)tile[0] * N * K;
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int column = blockIdx.x * tile_n, warp_row = warp / 2 * 16, warp_column = warp % 2 * (tile_n / 2);
   const __nv_bfloat16 zero = __float2bfloat16(0.0f);
   float sums[fragments_n][4] = {};

   for (int k = 0; k < K; k += depth) {
      for (int i = threadIdx.x; i < tile_m * depth; i += threads) {
         const int r = i / depth, c = k + i % depth;
         left[r * pitch + i % depth] = r < rows && c < K ? x[(long long)listed[r] * K + c] : zero;
      }
      for (int i = threadIdx.x; i < tile_n * depth; i += threads) {
         const int r = column + i / depth, c = k + i % depth;
         right[i / depth * pitch + i % depth] = r < N && c < K ? own_weight[(long long)r * K + c] : zero;
      }
      __syncthreads();
      const __nv_bfloat16 *a = &left[(warp_row + group) * pitch + 2 * member];
      for (int j = 0; j < fragments_n; j++) {
         const __nv_bfloat16 *w = &right[(warp_column + 8 * j + group) * pitch + 2 * member];
         asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                      "{%0, %1, %2, %3};"
                      : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]), "+f"(sums[j][3])
                      : "r"(pair_at(a)), "r"(pair_at(a + 8 * pitch)), "r"(pair_at(a + 8)), "r"(pair_at(a + 8 * pitch + 8)),
                        "r"(pair_at(w)), "r"(pair_at(w + 8)));
      }
      __syncthreads();
   }

   for (int j = 0; j < fragments_n; j++)
      for (int e = 0; e < 4; e++) {
         const int r = warp_row + group + e / 2 * 8, c = column + warp_column + 8 * j + 2 * member + e % 2;
         if (r < rows && c < N)
            y[(long long)listed[r] * N + c] = __float2bfloat16(sums[j][e]);
      }
}
