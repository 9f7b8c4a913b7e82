/* rkb-kernel: 1
task: bf16_grouped_gemm
direction: backward
scratch:
  order: {dtype: int32, shape: "M"}
  starts: {dtype: int32, shape: "E + 1"}
launches:
  - kernel: list_rows
    grid: 1
    block: 256
    args: expert, order, starts, M, E
  - kernel: grad_input
    grid: ceildiv(K, 64), ceildiv(M, 64) + E
    block: 128
    args: grad_y, weight, order, starts, grad_x, E, N, K
  - kernel: grad_matrix
    grid: ceildiv(K, 64), ceildiv(N, 64), E
    block: 128
    args: grad_y, x, order, starts, grad_weight, N, K
*/

/* grad_x of a row is its grad_y times its expert's weights, and grad_weight of an expert is the sum over its rows of grad_y' x: 0 where it has
 * none.  The first launch lists the rows by expert; a thread owns an expert and walks over the rows, so the order is always the same.  The others
 * multiply tiles of 64 by 64 with the tensor cores, through wmma; the sums are fp32 and are rounded once. */

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile = 64, depth = 32, pitch = tile + 8;

using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;

__global__ void list_rows(const int *expert, int *order, int *starts, int M, int E) {
   __shared__ int rows[256];
   const int own = threadIdx.x;
   int count = 0;
   for (int i = 0; own < E && i < M; i++)
      count += expert[i] == own;
   rows[own] = count;
   __syncthreads();
   if (own >= E)
      return;
   int place = 0;
   for (int e = 0; e < own; e++)
      place += rows[e];
   starts[own] = place;
   for (int i = 0; i < M; i++)
      if (expert[i] == own)
         order[place++] = i;
   if (own == E - 1)
      starts[E] = place;
}

/* Adds what left and right hold, [depth][tile] each, to the sums of a warp: 16 rows of left, all columns of right. */
__device__ void multiply(const __nv_bfloat16 *left, const __nv_bfloat16 *right, Sums (&sums)[4]) {
   for (int part = 0; part < depth; part += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> own;
      wmma::load_matrix_sync(own, &left[part * pitch + threadIdx.x / 32 * 16], pitch);
#pragma unroll
      for (int j = 0; j < 4; j++) {
         wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> other;
         wmma::load_matrix_sync(other, &right[part * pitch + j * 16], pitch);
         wmma::mma_sync(sums[j], own, other, sums[j]);
      }
   }
}

/* Writes the sums to rows of z: listed ones, or those from number `row` on. */
__device__ void store(const Sums (&sums)[4], __nv_bfloat16 *z, const int *listed, int row, int rows, int column, int columns) {
   __shared__ alignas(32) float laid_out[4][16][16];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
#pragma unroll
   for (int j = 0; j < 4; j++) {
      wmma::store_matrix_sync(&laid_out[warp][0][0], sums[j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < 256; i += 32) {
         const int r = row + warp * 16 + i / 16, c = column + j * 16 + i % 16;
         if (r < rows && c < columns)
            z[(long long)(listed ? listed[r] : r) * columns + c] = __float2bfloat16(laid_out[warp][i / 16][i % 16]);
      }
      __syncwarp();
   }
}

__global__ void __launch_bounds__(128)
   grad_input(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *weight, const int *order, const int *starts, __nv_bfloat16 *grad_x, int E,
              int N, int K) {
   __shared__ alignas(32) __nv_bfloat16 left[depth * pitch], right[depth * pitch];
   const __nv_bfloat16 zero = __float2bfloat16(0.0f);
   int own = 0, row = blockIdx.y * tile; /* the expert, and the first of its rows */
   while (own < E && row >= starts[own + 1] - starts[own])
      row -= (starts[own + 1] - starts[own] + tile - 1) / tile * tile, own++;
   if (own == E)
      return;
   const int *listed = order + starts[own];
   const int rows = starts[own + 1] - starts[own], column = blockIdx.x * tile;
   const __nv_bfloat16 *matrix = weight + (long long)own * N * K;
   Sums sums[4];
   for (int j = 0; j < 4; j++)
      wmma::fill_fragment(sums[j], 0.0f);
   for (int n = 0; n < N; n += depth) {
      for (int i = threadIdx.x; i < depth * tile; i += 128) {
         const int r = i % depth, c = i / depth;
         left[r * pitch + c] = n + r < N && row + c < rows ? grad_y[(long long)listed[row + c] * N + n + r] : zero;
      }
      for (int i = threadIdx.x; i < depth * tile; i += 128) {
         const int r = i / tile, c = i % tile;
         right[r * pitch + c] = n + r < N && column + c < K ? matrix[(long long)(n + r) * K + column + c] : zero;
      }
      __syncthreads();
      multiply(left, right, sums);
      __syncthreads();
   }
   store(sums, grad_x, listed, row, rows, column, K);
}

__global__ void __launch_bounds__(128)
   grad_matrix(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const int *order, const int *starts, __nv_bfloat16 *grad_weight, int N,
               int K) {
   __shared__ alignas(32) __nv_bfloat16 left[depth * pitch], right[depth * pitch];
   const __nv_bfloat16 zero = __float2bfloat16(0.0f);
   const int own = blockIdx.z, row = blockIdx.y * tile, column = blockIdx.x * tile;
   Sums sums[4];
   for (int j = 0; j < 4; j++)
      wmma::fill_fragment(sums[j], 0.0f);
   for (int first = starts[own]; first < starts[own + 1]; first += depth) {
      for (int i = threadIdx.x; i < depth * tile; i += 128) {
         const int r = i / tile, c = i % tile;
         const bool inside = first + r < starts[own + 1];
         const long long listed = inside ? order[first + r] : 0;
         left[r * pitch + c] = inside && row + c < N ? grad_y[listed * N + row + c] : zero;
         right[r * pitch + c] = inside && column + c < K ? x[listed * K + column + c] : zero;
      }
      __syncthreads();
      multiply(left, right, sums);
      __syncthreads();
   }
   store(sums, grad_weight + (long long)own * N * K, nullptr, row, N, column, K);
}
