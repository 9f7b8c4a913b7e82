/* rkb-kernel: 1
task: llama_ffw
direction: backward
tune:
  TILE: {default: 64, choices: [32, 64]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
let:
  rows: B * T
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
  grad_gate: {dtype: float32, shape: "rows, F"}
  grad_up: {dtype: float32, shape: "rows, F"}
launches:
  - kernel: grad_hidden<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(F, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, x, gate_weight, up_weight, down_weight, hidden, grad_gate, grad_up, rows, D, F
  - kernel: grad_input<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(rows, TILE), ceildiv(D, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_gate, grad_up, gate_weight, up_weight, grad_x, rows, D, F
  - kernel: sum_of_outer<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(F, TILE), ceildiv(D, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_gate, x, grad_gate_weight, rows, F, D
  - kernel: sum_of_outer<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(F, TILE), ceildiv(D, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_up, x, grad_up_weight, rows, F, D
  - kernel: sum_of_outer<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(D, TILE), ceildiv(F, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, hidden, grad_down_weight, rows, D, F
*/

/* With s = sigmoid(gate):  hidden = gate * s * up, and for its gradient h,  grad_up = h * gate * s  and
 * grad_gate = h * up * s * (1 + gate * (1 - s)).  The first launch computes gate, up and h for the same tile, three products whose
 * results meet in registers, and leaves hidden and the two gradients in scratch; then come one product for grad_x and one for each
 * weight, which sums over the rows. */

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
   grad_hidden(const float *grad_y, const float *x, const float *gate_weight, const float *up_weight, const float *down_weight,
               float *hidden, float *grad_gate, float *grad_up, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float gate[micro][micro] = {}, up[micro][micro] = {}, grad[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(gate, ByRow{x, D, rows}, ByRow{gate_weight, D, F}, first_row, first_column, 0, D);
   tile_product<tile_m, tile_n, depth, micro>(up, ByRow{x, D, rows}, ByRow{up_weight, D, F}, first_row, first_column, 0, D);
   tile_product<tile_m, tile_n, depth, micro>(grad, ByRow{grad_y, D, rows}, ByColumn{down_weight, F, F}, first_row, first_column,
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
         const float s = 1.0f / (1.0f + expf(-gate[i][j])), silu = gate[i][j] * s;
         hidden[at] = silu * up[i][j];
         grad_up[at] = grad[i][j] * silu;
         grad_gate[at] = grad[i][j] * up[i][j] * s * (1.0f + gate[i][j] * (1.0f - s));
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_input(const float *grad_gate, const float *grad_up, const float *gate_weight, const float *up_weight, float *grad_x,
              int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{grad_gate, F, rows}, ByColumn{gate_weight, D, D}, first_row,
                                              first_column, 0, F);
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{grad_up, F, rows}, ByColumn{up_weight, D, D}, first_row, first_column,
                                              0, F);

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
