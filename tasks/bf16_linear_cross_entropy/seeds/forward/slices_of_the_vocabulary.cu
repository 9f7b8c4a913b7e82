/* rkb-kernel: 1
task: bf16_linear_cross_entropy
direction: forward
tune:
  TILES: {default: 8, choices: [1, 8, 32]} # of 32 words, that one block takes
let:
  SLICES: ceildiv(V, 32 * TILES)
scratch:
  largest: {dtype: float32, shape: "R, SLICES"}
  sums: {dtype: float32, shape: "R, SLICES"}
  wanted: {dtype: float32, shape: "R"}
launches:
  - kernel: slice<TILES>
    grid: ceildiv(R, 32), SLICES
    block: 128
    args: x, weight, target, largest, sums, wanted, R, V, D
  - kernel: merge
    grid: ceildiv(R, 128)
    block: 128
    args: largest, sums, wanted, loss, R, SLICES
*/

/* The logits never leave the chip: a block multiplies 32 tokens by a slice of the vocabulary, tile by tile with the tensor cores (mma
 * m16n8k16 in the PTX ISA), and keeps each token's largest logit, the sum of exponentials relative to it, and the target's logit.
 * The second launch merges the slices. */

#include <cuda_bf16.h>
#include <math.h>

constexpr int threads = 128, tile = 32, depth = 16, pitch = depth + 8; /* the pad keeps a fragment's eight rows in different banks */

__device__ unsigned pair_at(const __nv_bfloat16 *at) {
   return *reinterpret_cast<const unsigned *>(at);
}

__device__ void load_tile(const __nv_bfloat16 *from, __nv_bfloat16 *to, int row, int row_end, int k, int K) {
   for (int i = threadIdx.x; i < tile * depth; i += threads) {
      const int r = i / depth, c = i % depth;
      to[r * pitch + c] = row + r < row_end && k + c < K ? from[(long long)(row + r) * K + k + c] : __float2bfloat16(0.0f);
   }
}

template <int tiles>
__global__ void __launch_bounds__(threads) slice(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const long long *target,
                                                 float *largest, float *sums, float *wanted, int R, int V, int D) {
   __shared__ alignas(16) __nv_bfloat16 left[tile * pitch], right[tile * pitch];
   __shared__ float logits[tile][tile + 1];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, group = lane / 4, member = lane % 4;
   const int row = blockIdx.x * tile, warp_row = warp / 2 * 16, warp_column = warp % 2 * 16;
   float most = -INFINITY, sum = 0.0f; /* of the row of threads 0 to 31 */

   for (int t = 0; t < tiles; t++) {
      const int column = (blockIdx.y * tiles + t) * tile;
      float products[2][4] = {};
      for (int k = 0; k < D; k += depth) {
         load_tile(x, left, row, R, k, D);
         load_tile(weight, right, column, V, k, D);
         __syncthreads();
         const __nv_bfloat16 *a = &left[(warp_row + group) * pitch + 2 * member];
         for (int j = 0; j < 2; j++) {
            const __nv_bfloat16 *w = &right[(warp_column + 8 * j + group) * pitch + 2 * member];
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                         "{%0, %1, %2, %3};"
                         : "+f"(products[j][0]), "+f"(products[j][1]), "+f"(products[j][2]), "+f"(products[j][3])
                         : "r"(pair_at(a)), "r"(pair_at(a + 8 * pitch)), "r"(pair_at(a + 8)), "r"(pair_at(a + 8 * pitch + 8)),
                           "r"(pair_at(w)), "r"(pair_at(w + 8)));
         }
         __syncthreads();
      }
      for (int j = 0; j < 2; j++)
         for (int e = 0; e < 4; e++)
            logits[warp_row + group + e / 2 * 8][warp_column + 8 * j + 2 * member + e % 2] = products[j][e];
      __syncthreads();
      if (threadIdx.x < tile && row + threadIdx.x < R)
         for (int c = 0; c < tile && column + c < V; c++) {
            const float logit = logits[threadIdx.x][c], now = fmaxf(most, logit);
            sum = sum * expf(most - now) + expf(logit - now);
            most = now;
            if (column + c == target[row + threadIdx.x])
               wanted[row + threadIdx.x] = logit;
         }
      __syncthreads();
   }
   if (threadIdx.x < tile && row + threadIdx.x < R) {
      const long long at = (long long)(row + threadIdx.x) * gridDim.y + blockIdx.y;
      largest[at] = most;
      sums[at] = sum;
   }
}

__global__ void merge(const float *largest, const float *sums, const float *wanted, float *loss, int R, int slices) {
   const int row = blockIdx.x * 128 + threadIdx.x;
   if (row >= R)
      return;
   float most = -INFINITY, sum = 0.0f;
   for (int s = 0; s < slices; s++)
      most = fmaxf(most, largest[(long long)row * slices + s]);
   for (int s = 0; s < slices; s++)
      sum += sums[(long long)row * slices + s] * expf(largest[(long long)row * slices + s] - most);
   loss[row] = most - wanted[row] + logf(sum);
}
