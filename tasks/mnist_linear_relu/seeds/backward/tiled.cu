/* rkb-kernel: 1
task: mnist_linear_relu
direction: backward
tune:
  TILE: {default: 32, choices: [32, 64, 128]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
  SLICES: {default: 64, choices: [1, 4, 16, 64, 128]}
let:
  rows: N
  slices: max(1, min(min(SLICES, ceildiv(rows, 64)), 4194304 / (O * I)))
  slice_rows: ceildiv(rows, slices)
scratch:
  masked: {dtype: float32, shape: "rows, O"}
  partial_weight: {dtype: float32, shape: "slices, O, I"}
  partial_bias: {dtype: float32, shape: "slices, O"}
launches:
  - kernel: mask<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(O, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, x, weight, bias, masked, rows, I, O
  - kernel: grad_input<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(I, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: masked, weight, grad_x, rows, I, O
  - kernel: grad_weight_slice<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(O, TILE), ceildiv(I, TILE), slices
    block: TILE * TILE / (MICRO * MICRO)
    args: masked, x, partial_weight, rows, slice_rows, I, O
  - kernel: grad_bias_slice
    grid: ceildiv(O, 32), slices
    block: 32, 8
    args: masked, partial_bias, rows, slice_rows, O
  - kernel: sum_slices<256>
    grid: ceildiv(O * I, 256)
    block: 256
    args: partial_weight, grad_weight, O * I, slices
  - kernel: sum_slices<256>
    grid: ceildiv(O, 256)
    block: 256
    args: partial_bias, grad_bias, O, slices
*/

/* relu passes a gradient where x * weight' + bias > 0, which is computed again and leaves the masked gradient g in scratch.  Then
 * grad_x = g * weight, grad_weight = g' * x, grad_bias = column sums of g.  All products use the same tiled loop.
 * grad_weight sums over the rows, of which there may be many for few results, so slices of the rows go to different blocks and
 * a last launch adds the slices' partial results: no atomics, the order is fixed. */

/* Brings `rows` x `depth` numbers of a matrix into shared memory, neighbouring threads along the direction that is
 * contiguous in memory.  Matrix is a small object that gives element (row, k), zero where the row is outside. */
template <int rows, int depth, int threads, class Matrix>
__device__ void load_tile(float (&tile)[depth][rows + 1], const Matrix &matrix, int first_row, int first_k, int last_k) {
   for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int row = Matrix::along_depth ? i / depth : i % rows;
      const int k = Matrix::along_depth ? i % depth : i / rows;
      tile[k][row] = first_k + k < last_k ? matrix.at(first_row + row, first_k + k) : 0.0f;
   }
}

/* sum[i][j] += sum over k of a(m, k) * b(n, k) for a tile of tile_m x tile_n results.  A thread owns micro x micro of them,
 * spread over the tile with a step so that a warp reads shared memory without conflicts. */
template <int tile_m, int tile_n, int depth, int micro, class A, class B>
__device__ void tile_product(float (&sum)[micro][micro], const A &a, const B &b, int first_m, int first_n, int first_k,
                             int last_k) {
   constexpr int across = tile_n / micro, down = tile_m / micro, threads = across * down;
   __shared__ float a_tile[depth][tile_m + 1], b_tile[depth][tile_n + 1];
   const int column = threadIdx.x % across, row = threadIdx.x / across;
   for (int k0 = first_k; k0 < last_k; k0 += depth) {
      load_tile<tile_m, depth, threads>(a_tile, a, first_m, k0, last_k);
      load_tile<tile_n, depth, threads>(b_tile, b, first_n, k0, last_k);
      __syncthreads();
      for (int k = 0; k < depth; k++) {
         float left[micro], right[micro];
#pragma unroll
         for (int i = 0; i < micro; i++) {
            left[i] = a_tile[k][row + i * down];
            right[i] = b_tile[k][column + i * across];
         }
#pragma unroll
         for (int i = 0; i < micro; i++)
#pragma unroll
            for (int j = 0; j < micro; j++)
               sum[i][j] += left[i] * right[j];
      }
      __syncthreads();
   }
}

/* A matrix whose row is contiguous along k. */
struct ByRow {
   static constexpr bool along_depth = true;
   const float *data;
   long long pitch;
   int rows;
   __device__ float at(int row, int k) const { return row < rows ? data[row * pitch + k] : 0.0f; }
};

/* A matrix stored with k as the slow index: element (row, k) lies at data[k * pitch + row]. */
struct ByColumn {
   static constexpr bool along_depth = false;
   const float *data;
   long long pitch;
   int rows;
   __device__ float at(int row, int k) const { return row < rows ? data[k * pitch + row] : 0.0f; }
};

/* masked = grad_y where the layer's output before relu is positive, else 0. */
template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   mask(const float *grad_y, const float *x, const float *weight, const float *bias, float *masked, int rows, int I, int O) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{x, I, rows}, ByRow{weight, I, O}, first_row, first_column, 0, I);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int row = first_row + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int column = first_column + threadIdx.x % across + j * across;
         if (row < rows && column < O) {
            const long long at = (long long)row * O + column;
            masked[at] = sum[i][j] + bias[column] <= 0.0f ? 0.0f : grad_y[at]; /* NaN lets it pass, as in PyTorch */
         }
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_input(const float *grad, const float *weight, float *grad_x, int rows, int I, int O) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{grad, O, rows}, ByColumn{weight, I, I}, first_row, first_column, 0,
                                              O);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int row = first_row + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int column = first_column + threadIdx.x % across + j * across;
         if (row < rows && column < I)
            grad_x[(long long)row * I + column] = sum[i][j];
      }
   }
}

/* One slice of the rows, blockIdx.z, for one tile of grad_weight (O x I). */
template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_weight_slice(const float *grad, const float *x, float *partial, int rows, int slice_rows, int I, int O) {
   const int first_output = blockIdx.x * tile_m, first_input = blockIdx.y * tile_n;
   const int first = blockIdx.z * slice_rows, last = min(first + slice_rows, rows);
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByColumn{grad, O, O}, ByColumn{x, I, I}, first_output, first_input, first,
                                              last);

   float *out = partial + (long long)blockIdx.z * O * I;
   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int output = first_output + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int input = first_input + threadIdx.x % across + j * across;
         if (output < O && input < I)
            out[(long long)output * I + input] = sum[i][j];
      }
   }
}

/* Column sums over one slice of the rows: 32 columns a block, 8 threads a column. */
__global__ void grad_bias_slice(const float *grad, float *partial, int rows, int slice_rows, int O) {
   __shared__ float part[8][32];
   const int column = blockIdx.x * 32 + threadIdx.x;
   const int first = blockIdx.y * slice_rows, last = min(first + slice_rows, rows);
   float sum = 0.0f;
   if (column < O)
      for (int row = first + threadIdx.y; row < last; row += 8)
         sum += grad[(long long)row * O + column];
   part[threadIdx.y][threadIdx.x] = sum;
   __syncthreads();
   if (threadIdx.y == 0 && column < O) {
      for (int i = 1; i < 8; i++)
         sum += part[i][threadIdx.x];
      partial[(long long)blockIdx.y * O + column] = sum;
   }
}

/* out[i] = sum of the slices' element i, in their order: the same result at every run. */
template <int block> __global__ void sum_slices(const float *slices, float *out, long long count, int slice_count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
   for (int slice = 0; slice < slice_count; slice++)
      sum += slices[slice * count + i];
   out[i] = sum;
}
