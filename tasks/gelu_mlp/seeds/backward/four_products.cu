/* rkb-kernel: 1
task: gelu_mlp
direction: backward
tune:
  TILE: {default: 64, choices: [32, 64]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
  SLICES: {default: 32, choices: [1, 8, 32, 128]}
let:
  rows: B * T
  slice_rows: ceildiv(rows, SLICES)
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
  grad_fc: {dtype: float32, shape: "rows, F"}
  partial_fc: {dtype: float32, shape: "SLICES, F"}
  partial_proj: {dtype: float32, shape: "SLICES, D"}
launches:
  - kernel: grad_hidden<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(F, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, x, fc_weight, fc_bias, proj_weight, hidden, grad_fc, rows, D, F
  - kernel: grad_input<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(D, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_fc, fc_weight, grad_x, rows, D, F
  - kernel: sum_of_outer<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(F, TILE), ceildiv(D, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_fc, x, grad_fc_weight, rows, F, D
  - kernel: sum_of_outer<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(D, TILE), ceildiv(F, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, hidden, grad_proj_weight, rows, D, F
  - kernel: column_slice
    grid: ceildiv(F, 32), SLICES
    block: 32, 8
    args: grad_fc, partial_fc, rows, slice_rows, F
  - kernel: column_slice
    grid: ceildiv(D, 32), SLICES
    block: 32, 8
    args: grad_y, partial_proj, rows, slice_rows, D
  - kernel: sum_slices<256>
    grid: ceildiv(F, 256)
    block: 256
    args: partial_fc, grad_fc_bias, F, SLICES
  - kernel: sum_slices<256>
    grid: ceildiv(D, 256)
    block: 256
    args: partial_proj, grad_proj_bias, D, SLICES
*/

/* With f = fc x + bias:  gelu'(f) = (1 + erf(f / sqrt 2)) / 2 + f * exp(-f^2 / 2) / sqrt(2 pi).  The first launch computes f and
 * the gradient of the hidden layer for the same tile and leaves hidden = gelu(f) and the gradient of f in scratch; then come one
 * product for grad_x, one for each weight, and column sums for the biases, cut into slices of the rows that a last launch adds. */

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

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_hidden(const float *grad_y, const float *x, const float *fc_weight, const float *fc_bias, const float *proj_weight,
               float *hidden, float *grad_fc, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float sum[micro][micro] = {}, grad[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{x, D, rows}, ByRow{fc_weight, D, F}, first_row, first_column, 0, D);
   tile_product<tile_m, tile_n, depth, micro>(grad, ByRow{grad_y, D, rows}, ByColumn{proj_weight, F, F}, first_row, first_column,
                                              0, D);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int row = first_row + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int column = first_column + threadIdx.x % across + j * across;
         if (row >= rows || column >= F)
            continue;
         const long long at = (long long)row * F + column;
         const float f = sum[i][j] + fc_bias[column], share = 0.5f * (1.0f + erff(f * 0.70710678f));
         hidden[at] = f * share;
         grad_fc[at] = grad[i][j] * (share + f * 0.39894228f * expf(-0.5f * f * f));
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_input(const float *grad_fc, const float *fc_weight, float *grad_x, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{grad_fc, F, rows}, ByColumn{fc_weight, D, D}, first_row, first_column, 0,
                                              F);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int row = first_row + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int column = first_column + threadIdx.x % across + j * across;
         if (row < rows && column < D)
            grad_x[(long long)row * D + column] = sum[i][j];
      }
   }
}

/* out (M x N) = sum over the rows r of a[r, m] * b[r, n]: the gradient of a weight. */
template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   sum_of_outer(const float *a, const float *b, float *out, int rows, int M, int N) {
   const int first_m = blockIdx.x * tile_m, first_n = blockIdx.y * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByColumn{a, M, M}, ByColumn{b, N, N}, first_m, first_n, 0, rows);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int m = first_m + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int n = first_n + threadIdx.x % across + j * across;
         if (m < M && n < N)
            out[(long long)m * N + n] = sum[i][j];
      }
   }
}

/* Column sums over one slice of the rows: 32 columns a block, 8 threads a column. */
__global__ void column_slice(const float *matrix, float *partial, int rows, int slice_rows, int columns) {
   __shared__ float part[8][32];
   const int column = blockIdx.x * 32 + threadIdx.x;
   const int first = blockIdx.y * slice_rows, last = min(first + slice_rows, rows);
   float sum = 0.0f;
   if (column < columns)
      for (int row = first + threadIdx.y; row < last; row += 8)
         sum += matrix[(long long)row * columns + column];
   part[threadIdx.y][threadIdx.x] = sum;
   __syncthreads();
   if (threadIdx.y == 0 && column < columns) {
      for (int i = 1; i < 8; i++)
         sum += part[i][threadIdx.x];
      partial[(long long)blockIdx.y * columns + column] = sum;
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
