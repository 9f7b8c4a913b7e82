/* rkb-kernel: 1
task: bf16_swiglu_ffw
direction: backward
scratch:
  hidden: {dtype: bfloat16, shape: "M, F"}
  grad_gated: {dtype: bfloat16, shape: "M, F"}
  grad_wide: {dtype: bfloat16, shape: "M, F"}
launches:
  - kernel: within
    grid: ceildiv(F, 64), ceildiv(M, 64)
    block: 128
    args: grad_y, x, gate, up, down, hidden, grad_gated, grad_wide, M, D, F
  - kernel: grad_input
    grid: ceildiv(D, 64), ceildiv(M, 64)
    block: 128
    args: grad_gated, gate, grad_wide, up, grad_x, M, D, F
  - kernel: grad_weight
    grid: ceildiv(D, 64), ceildiv(F, 64)
    block: 128
    args: grad_gated, x, grad_gate, F, D, M
  - kernel: grad_weight
    grid: ceildiv(D, 64), ceildiv(F, 64)
    block: 128
    args: grad_wide, x, grad_up, F, D, M
  - kernel: grad_weight
    grid: ceildiv(F, 64), ceildiv(D, 64)
    block: 128
    args: grad_y, hidden, grad_down, D, F, M
*/

/* With s = sigmoid(gated) and h the gradient of hidden = gated s wide:  that of wide is h gated s, and that of gated is
 * h wide s (1 + gated (1 - s)).  The first launch forms gated, wide and h for the same tile, three products whose results meet in registers, and
 * leaves hidden and both gradients, stored in bfloat16 as in PyTorch.  Products for grad_x and for each weight follow.
 *
 * Blocks compute 64 by 64 with the tensor cores, through wmma; the sums are fp32 and are rounded once. */

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile = 64, depth = 32, pitch = tile + 8;

using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

struct Shared {
   alignas(32) __nv_bfloat16 left[depth * pitch], right[depth * pitch];
   alignas(32) float laid_out[4][16][16];
};

/* Copies [depth][tile] of a matrix [deep][wide] into shared memory. */
__device__ void fetch_columns(const __nv_bfloat16 *from, __nv_bfloat16 *to, int k, int deep, int column, int wide) {
   for (int i = threadIdx.x; i < depth * tile; i += 128) {
      const int r = i / tile, c = i % tile;
      to[r * pitch + c] =
         k + r < deep && column + c < wide ? from[(long long)(k + r) * wide + column + c] : __float2bfloat16(0.0f);
   }
}

/* The same part of a matrix [wide][deep], turned. */
__device__ void fetch_rows(const __nv_bfloat16 *from, __nv_bfloat16 *to, int k, int deep, int row, int wide) {
   for (int i = threadIdx.x; i < depth * tile; i += 128) {
      const int r = i % depth, c = i / depth;
      to[r * pitch + c] = k + r < deep && row + c < wide ? from[(long long)(row + c) * deep + k + r] : __float2bfloat16(0.0f);
   }
}

/* Adds to a tile [rows][columns] the sum over deep of a and b.  By columns: the matrix is [deep][rows] or [deep][columns]. */
template <bool a_by_columns, bool b_by_columns>
__device__ void add_product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, int row, int rows, int column, int columns, int deep,
                            Shared &shared, Sums (&sums)[4]) {
   for (int k = 0; k < deep; k += depth) {
      if (a_by_columns)
         fetch_columns(a, shared.left, k, deep, row, rows);
      else
         fetch_rows(a, shared.left, k, deep, row, rows);
      if (b_by_columns)
         fetch_columns(b, shared.right, k, deep, column, columns);
      else
         fetch_rows(b, shared.right, k, deep, column, columns);
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> own;
         wmma::load_matrix_sync(own, &shared.left[part * pitch + threadIdx.x / 32 * 16], pitch);
#pragma unroll
         for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> other;
            wmma::load_matrix_sync(other, &shared.right[part * pitch + j * 16], pitch);
            wmma::mma_sync(sums[j], own, other, sums[j]);
         }
      }
      __syncthreads();
   }
}

__device__ void clear(Sums (&sums)[4]) {
#pragma unroll
   for (int j = 0; j < 4; j++)
      wmma::fill_fragment(sums[j], 0.0f);
}

__device__ void store(const Sums (&sums)[4], __nv_bfloat16 *z, int row, int rows, int column, int columns, Shared &shared) {
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
   for (int j = 0; j < 4; j++) {
      wmma::store_matrix_sync(&shared.laid_out[warp][0][0], sums[j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < 256; i += 32) {
         const int r = row + warp * 16 + i / 16, c = column + j * 16 + i % 16;
         if (r < rows && c < columns)
            z[(long long)r * columns + c] = __float2bfloat16(shared.laid_out[warp][i / 16][i % 16]);
      }
      __syncwarp();
   }
}

__global__ void __launch_bounds__(128)
   within(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const __nv_bfloat16 *gate, const __nv_bfloat16 *up,
          const __nv_bfloat16 *down, __nv_bfloat16 *hidden, __nv_bfloat16 *grad_gated, __nv_bfloat16 *grad_wide, int M, int D, int F) {
   __shared__ Shared shared;
   const int row = blockIdx.y * tile, column = blockIdx.x * tile;
   Sums gated[4], wide[4], grad[4];
   clear(gated);
   clear(wide);
   clear(grad);
   add_product<false, false>(x, gate, row, M, column, F, D, shared, gated);
   add_product<false, false>(x, up, row, M, column, F, D, shared, wide);
   add_product<false, true>(grad_y, down, row, M, column, F, D, shared, grad);
   /* The same element of each lies in the same place of its fragment. */
#pragma unroll
   for (int j = 0; j < 4; j++)
#pragma unroll
      for (int i = 0; i < gated[j].num_elements; i++) {
         const float g = gated[j].x[i], w = wide[j].x[i], h = grad[j].x[i];
         const float s = 1.0f / (1.0f + expf(-g)), active = g * s;
         gated[j].x[i] = active * w;
         wide[j].x[i] = h * active;
         grad[j].x[i] = h * w * (s * (1.0f + g * (1.0f - s)));
      }
   store(gated, hidden, row, M, column, F, shared);
   store(wide, grad_wide, row, M, column, F, shared);
   store(grad, grad_gated, row, M, column, F, shared);
}

__global__ void __launch_bounds__(128)
   grad_input(const __nv_bfloat16 *grad_gated, const __nv_bfloat16 *gate, const __nv_bfloat16 *grad_wide, const __nv_bfloat16 *up,
              __nv_bfloat16 *grad_x, int M, int D, int F) {
   __shared__ Shared shared;
   const int row = blockIdx.y * tile, column = blockIdx.x * tile;
   Sums sums[4];
   clear(sums);
   add_product<false, true>(grad_gated, gate, row, M, column, D, F, shared, sums);
   add_product<false, true>(grad_wide, up, row, M, column, D, F, shared, sums);
   store(sums, grad_x, row, M, column, D, shared);
}

/* z [rows][columns] = the sum over deep of a [deep][rows] and b [deep][columns]. */
__global__ void __launch_bounds__(128)
   grad_weight(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *z, int rows, int columns, int deep) {
   __shared__ Shared shared;
   const int row = blockIdx.y * tile, column = blockIdx.x * tile;
   Sums sums[4];
   clear(sums);
   add_product<true, true>(a, b, row, rows, column, columns, deep, shared, sums);
   store(sums, z, row, rows, column, columns, shared);
}
