/* rkb-kernel: 1
task: llama_ffw
direction: forward
tune:
  TILE_M: {default: 128, choices: [64, 128]}
  TILE_N: {default: 128, choices: [64, 128]}
  DEPTH: {default: 8, choices: [8]}
  PARTS: {default: 4, choices: [1, 2, 4, 8]}
let:
  rows: B * T
  part: ceildiv(ceildiv(F, PARTS), 16) * 16
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
  partial: {dtype: float32, shape: "PARTS, rows, D"}
launches:
  - kernel: gate_and_up<TILE_M, TILE_N, DEPTH, 4>
    when: D % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(F, TILE_N)
    block: TILE_M * TILE_N / 64
    args: x, gate_weight, up_weight, hidden, rows, D, F
  - else:
    kernel: gate_and_up<TILE_M, TILE_N, DEPTH, 1>
    grid: ceildiv(rows, TILE_M), ceildiv(F, TILE_N)
    block: TILE_M * TILE_N / 64
    args: x, gate_weight, up_weight, hidden, rows, D, F
  - kernel: down<TILE_M, TILE_N, 16, 4>
    when: F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(D, TILE_N), PARTS
    block: TILE_M * TILE_N / 64
    args: hidden, down_weight, partial, rows, D, F, part
  - else:
    kernel: down<TILE_M, TILE_N, 16, 1>
    grid: ceildiv(rows, TILE_M), ceildiv(D, TILE_N), PARTS
    block: TILE_M * TILE_N / 64
    args: hidden, down_weight, partial, rows, D, F, part
  - kernel: gather<PARTS>
    grid: ceildiv(rows * D, 256)
    block: 256
    args: partial, y, rows * D
*/

/* Three launches: silu(gate) * up for the same tile of both products, the down product with its sum split into PARTS, so that
 * few rows still fill the device, and the sum of the parts.
 *
 * A thread keeps 8 x 8 sums, the tiles of both operands lie turned in shared memory and are read as vectors, and the next pair of
 * tiles is fetched while this one is multiplied: bound by arithmetic where there are blocks enough. */

/* Brings depth numbers of each of `rows` rows, contiguous along the depth, into registers: vectors of `width`, zero outside. */
template <int rows, int depth, int threads, int width>
__device__ void fetch(float (&kept)[rows * depth / threads], const float *data, long long pitch, int last_row, int last_k, int first_row,
                      int first_k) {
#pragma unroll
   for (int v = 0; v < rows * depth / threads / width; v++) {
      const int index = threadIdx.x + v * threads;
      const int row = first_row + index / (depth / width), k = first_k + index % (depth / width) * width;
      const bool inside = row < last_row && k < last_k;
      if (width == 4) {
         const float4 four = inside ? *(const float4 *)(data + row * pitch + k) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
         kept[4 * v] = four.x;
         kept[4 * v + 1] = four.y;
         kept[4 * v + 2] = four.z;
         kept[4 * v + 3] = four.w;
      } else {
         kept[v] = inside ? data[row * pitch + k] : 0.0f;
      }
   }
}

/* From registers into shared memory, turned so that neighbours along the rows lie side by side. */
template <int rows, int depth, int threads, int width>
__device__ void store(float (&tile)[depth][rows + 4], const float (&kept)[rows * depth / threads]) {
#pragma unroll
   for (int v = 0; v < rows * depth / threads / width; v++) {
      const int index = threadIdx.x + v * threads;
      const int row = index / (depth / width), k = index % (depth / width) * width;
#pragma unroll
      for (int i = 0; i < width; i++)
         tile[k + i][row] = kept[width * v + i];
   }
}

/* Eight of a thread's rows or columns: four, and the four half a tile further. */
template <int rows>
__device__ void pick(float (&eight)[8], const float (&line)[rows + 4], int which) {
   const float4 near = *(const float4 *)&line[4 * which], far = *(const float4 *)&line[rows / 2 + 4 * which];
   eight[0] = near.x;
   eight[1] = near.y;
   eight[2] = near.z;
   eight[3] = near.w;
   eight[4] = far.x;
   eight[5] = far.y;
   eight[6] = far.z;
   eight[7] = far.w;
}

__device__ void add_products(float (&sum)[8][8], const float (&left)[8], const float (&right)[8]) {
#pragma unroll
   for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 8; j++)
         sum[i][j] += left[i] * right[j];
}

/* sum += a(m, k) * b(n, k) over first_k <= k < last_k for a tile of tile_m x tile_n results, 8 x 8 of them a thread.  While
 * one pair of tiles is multiplied, the next is on its way from memory. */
template <int tile_m, int tile_n, int depth, int width>
__device__ void tile_product(float (&sum)[8][8], const float *a, int a_rows, const float *b, int b_rows, long long pitch, int first_m,
                             int first_n, int first_k, int last_k) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) float a_tile[2][depth][tile_m + 4], b_tile[2][depth][tile_n + 4];
   float a_next[tile_m * depth / threads], b_next[tile_n * depth / threads], left[8], right[8];
   const int across = threadIdx.x % (tile_n / 8), down = threadIdx.x / (tile_n / 8);
   fetch<tile_m, depth, threads, width>(a_next, a, pitch, a_rows, last_k, first_m, first_k);
   fetch<tile_n, depth, threads, width>(b_next, b, pitch, b_rows, last_k, first_n, first_k);
   store<tile_m, depth, threads, width>(a_tile[0], a_next);
   store<tile_n, depth, threads, width>(b_tile[0], b_next);
   __syncthreads();
   for (int k0 = first_k, side = 0; k0 < last_k; k0 += depth, side ^= 1) {
      const bool more = k0 + depth < last_k;
      if (more) {
         fetch<tile_m, depth, threads, width>(a_next, a, pitch, a_rows, last_k, first_m, k0 + depth);
         fetch<tile_n, depth, threads, width>(b_next, b, pitch, b_rows, last_k, first_n, k0 + depth);
      }
#pragma unroll 2
      for (int k = 0; k < depth; k++) {
         pick<tile_m>(left, a_tile[side][k], down);
         pick<tile_n>(right, b_tile[side][k], across);
         add_products(sum, left, right);
      }
      if (more) {
         store<tile_m, depth, threads, width>(a_tile[side ^ 1], a_next);
         store<tile_n, depth, threads, width>(b_tile[side ^ 1], b_next);
      }
      __syncthreads();
   }
}

/* The same with two right sides at once: what is fetched of the left one serves both. */
template <int tile_m, int tile_n, int depth, int width>
__device__ void tile_products(float (&first)[8][8], float (&second)[8][8], const float *a, int a_rows, const float *b, const float *c,
                              int b_rows, long long pitch, int first_m, int first_n, int last_k) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) float a_tile[2][depth][tile_m + 4], b_tile[2][depth][tile_n + 4], c_tile[2][depth][tile_n + 4];
   float a_next[tile_m * depth / threads], b_next[tile_n * depth / threads], c_next[tile_n * depth / threads], left[8], right[8];
   const int across = threadIdx.x % (tile_n / 8), down = threadIdx.x / (tile_n / 8);
   fetch<tile_m, depth, threads, width>(a_next, a, pitch, a_rows, last_k, first_m, 0);
   fetch<tile_n, depth, threads, width>(b_next, b, pitch, b_rows, last_k, first_n, 0);
   fetch<tile_n, depth, threads, width>(c_next, c, pitch, b_rows, last_k, first_n, 0);
   store<tile_m, depth, threads, width>(a_tile[0], a_next);
   store<tile_n, depth, threads, width>(b_tile[0], b_next);
   store<tile_n, depth, threads, width>(c_tile[0], c_next);
   __syncthreads();
   for (int k0 = 0, side = 0; k0 < last_k; k0 += depth, side ^= 1) {
      const bool more = k0 + depth < last_k;
      if (more) {
         fetch<tile_m, depth, threads, width>(a_next, a, pitch, a_rows, last_k, first_m, k0 + depth);
         fetch<tile_n, depth, threads, width>(b_next, b, pitch, b_rows, last_k, first_n, k0 + depth);
         fetch<tile_n, depth, threads, width>(c_next, c, pitch, b_rows, last_k, first_n, k0 + depth);
      }
#pragma unroll 2
      for (int k = 0; k < depth; k++) {
         pick<tile_m>(left, a_tile[side][k], down);
         pick<tile_n>(right, b_tile[side][k], across);
         add_products(first, left, right);
         pick<tile_n>(right, c_tile[side][k], across);
         add_products(second, left, right);
      }
      if (more) {
         store<tile_m, depth, threads, width>(a_tile[side ^ 1], a_next);
         store<tile_n, depth, threads, width>(b_tile[side ^ 1], b_next);
         store<tile_n, depth, threads, width>(c_tile[side ^ 1], c_next);
      }
      __syncthreads();
   }
}

/* Four neighbours of a row that is `count` long, as one vector where every row begins at a multiple of four. */
__device__ void put(float *line, int column, int count, const float (&four)[4]) {
   if (count % 4 == 0) {
      if (column < count)
         *(float4 *)(line + column) = make_float4(four[0], four[1], four[2], four[3]);
      return;
   }
#pragma unroll
   for (int j = 0; j < 4; j++)
      if (column + j < count)
         line[column + j] = four[j];
}
/* Row i and column j of a thread's results. */
template <int tile_m, int tile_n>
__device__ int row_of(int i) {
   return threadIdx.x / (tile_n / 8) * 4 + i % 4 + i / 4 * (tile_m / 2);
}
template <int tile_n>
__device__ int column_of(int j) {
   return threadIdx.x % (tile_n / 8) * 4 + j % 4 + j / 4 * (tile_n / 2);
}

template <int tile_m, int tile_n, int depth, int width>
__global__ void __launch_bounds__(tile_m *tile_n / 64)
   gate_and_up(const float *x, const float *gate_weight, const float *up_weight, float *hidden, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   float gate[8][8] = {}, up[8][8] = {};
   tile_products<tile_m, tile_n, depth, width>(gate, up, x, rows, gate_weight, up_weight, F, D, first_row, first_column, D);
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int row = first_row + row_of<tile_m, tile_n>(i);
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
         const int column = first_column + column_of<tile_n>(j);
         float four[4];
#pragma unroll
         for (int e = 0; e < 4; e++) {
            four[e] = gate[i][j + e] / (1.0f + expf(-gate[i][j + e])) * up[i][j + e];
         }
         if (row < rows)
            put(hidden + (long long)row * F, column, F, four);
      }
   }
}

template <int tile_m, int tile_n, int depth, int width>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 32768 / (tile_m * tile_n))
   down(const float *hidden, const float *down_weight, float *partial, int rows, int D, int F, int part) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n, first_k = blockIdx.z * part;
   float sum[8][8] = {};
   if (first_k < F)
      tile_product<tile_m, tile_n, depth, width>(sum, hidden, rows, down_weight, D, F, first_row, first_column, first_k,
                                                 min(first_k + part, F));
   float *to = partial + (long long)blockIdx.z * rows * D;
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int row = first_row + row_of<tile_m, tile_n>(i);
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
         const int column = first_column + column_of<tile_n>(j);
         float four[4];
#pragma unroll
         for (int e = 0; e < 4; e++) {
            four[e] = sum[i][j + e];
         }
         if (row < rows)
            put(to + (long long)row * D, column, D, four);
      }
   }
}

template <int parts>
__global__ void __launch_bounds__(256) gather(const float *partial, float *y, long long count) {
   const long long i = blockIdx.x * 256ll + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
#pragma unroll
   for (int p = 0; p < parts; p++)
      sum += partial[p * count + i];
   y[i] = sum;
}
