/* rkb-kernel: 1
task: bf16_linear_residual
direction: backward
launches:
  - kernel: product<0>
    grid: ceildiv(K, 64), ceildiv(M, 64)
    block: 128
    args: grad_y, weight, grad_x, M, K, N
  - kernel: product<1>
    grid: ceildiv(K, 64), ceildiv(N, 64)
    block: 128
    args: grad_y, x, grad_weight, N, K, M
  - kernel: add_rows
    grid: ceildiv(N, 32)
    block: 256
    args: grad_y, grad_bias, M, N
  - kernel: copy<256>
    grid: ceildiv(M * N, 1024)
    block: 256
    args: grad_y, grad_residual, M * N
*/

/* grad_x = grad_y W and grad_W = grad_y' x are products of matrices whose second factor lies by rows; the first lies by rows or by
 * columns.  Blocks compute 64 by 64 with the tensor cores, through wmma; the sums are fp32 and are rounded once.  The bias's gradient is
 * a sum over rows: eight threads share a column.  The residual has grad_y itself. */

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile = 64, depth = 32, pitch = tile + 8;

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

/* z [rows][columns] = the sum over deep of a and b [deep][columns]; a is [rows][deep], or [deep][rows]. */
template <int by_columns>
__global__ void __launch_bounds__(128)
   product(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *z, int rows, int columns, int deep) {
   __shared__ alignas(32) __nv_bfloat16 left[depth * pitch], right[depth * pitch];
   __shared__ alignas(32) float laid_out[4][16][16];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = blockIdx.y * tile, column = blockIdx.x * tile;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
   for (int j = 0; j < 4; j++)
      wmma::fill_fragment(sums[j], 0.0f);
   for (int k = 0; k < deep; k += depth) {
      if (by_columns)
         fetch_columns(a, left, k, deep, row, rows);
      else
         fetch_rows(a, left, k, deep, row, rows);
      fetch_columns(b, right, k, deep, column, columns);
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> own;
         wmma::load_matrix_sync(own, &left[part * pitch + warp * 16], pitch);
         for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> other;
            wmma::load_matrix_sync(other, &right[part * pitch + j * 16], pitch);
            wmma::mma_sync(sums[j], own, other, sums[j]);
         }
      }
      __syncthreads();
   }
   for (int j = 0; j < 4; j++) {
      wmma::store_matrix_sync(&laid_out[warp][0][0], sums[j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < 256; i += 32) {
         const int r = row + warp * 16 + i / 16, c = column + j * 16 + i % 16;
         if (r < rows && c < columns)
            z[(long long)r * columns + c] = __float2bfloat16(laid_out[warp][i / 16][i % 16]);
      }
      __syncwarp();
   }
}

__global__ void add_rows(const __nv_bfloat16 *grad_y, __nv_bfloat16 *grad_bias, int M, int N) {
   __shared__ float parts[8][32];
   const int own = threadIdx.x % 32, share = threadIdx.x / 32, column = blockIdx.x * 32 + own;
   float sum = 0.0f;
   for (int r = share; column < N && r < M; r += 8)
      sum += __bfloat162float(grad_y[(long long)r * N + column]);
   parts[share][own] = sum;
   __syncthreads();
   if (share == 0 && column < N) {
      for (int i = 1; i < 8; i++)
         sum += parts[i][own];
      grad_bias[column] = __float2bfloat16(sum);
   }
}

template <int block> __global__ void copy(const __nv_bfloat16 *grad_y, __nv_bfloat16 *grad_residual, long long count) {
   const long long first = 4ll * block * blockIdx.x + threadIdx.x;
#pragma unroll
   for (int i = 0; i < 4; i++)
      if (first + i * block < count)
         grad_residual[first + i * block] = grad_y[first + i * block];
}
