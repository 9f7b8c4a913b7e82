/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
tune:
  TILE_M: {default: 32, choices: [32, 64, 128]}
  TILE_N: {default: 32, choices: [32, 64, 128]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
let:
  rows: N
launches:
  - kernel: linear<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(rows, TILE_M), ceildiv(O, TILE_N)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: x, weight, bias, y, rows, I, O
*/

/* y = max(0, x * weight' + bias) as a tiled matrix product: a block computes TILE_M x TILE_N results and walks along I in steps of
 * DEPTH, both operands' tiles in shared memory, so that each number fetched is used TILE_M or TILE_N times; a thread keeps
 * MICRO x MICRO sums in registers. */

/* NaN stays NaN, as in PyTorch. */
__device__ __forceinline__ float relu(float x) {
   return x <= 0.0f ? 0.0f : x;
}

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

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   linear(const float *x, const float *weight, const float *bias, float *y, int rows, int I, int O) {
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
         if (row < rows && column < O)
            y[(long long)row * O + column] = relu(sum[i][j] + bias[column]);
      }
   }
}
