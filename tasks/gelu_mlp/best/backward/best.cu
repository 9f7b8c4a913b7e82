/* rkb-kernel: 1
task: gelu_mlp
direction: backward
tune:
  TILE_M: {default: 128, choices: [64, 128]}
  DEPTH: {default: 8, choices: [8, 16]}
  RESIDENT: {default: 512, choices: [384, 512]}
  PARTS: {default: 3, choices: [2, 3]}
let:
  rows: B * T
  part: ceildiv(ceildiv(rows, PARTS), 16) * 16
  fc_tiles: ceildiv(F, TILE_M) * ceildiv(D, 128)
  proj_tiles: ceildiv(D, TILE_M) * ceildiv(F, 128)
  slices: max(1, min(64, ceildiv(rows, 32)))
  slice_rows: ceildiv(rows, slices)
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
  grad_fc: {dtype: float32, shape: "rows, F"}
  partial_fc: {dtype: float32, shape: "PARTS, F, D"}
  partial_proj: {dtype: float32, shape: "PARTS, D, F"}
  partial_bias: {dtype: float32, shape: "slices, F + D"}
launches:
  - kernel: hidden_layer<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: x, fc_weight, fc_bias, hidden, rows, D, F
  - else:
    kernel: hidden_layer<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: x, fc_weight, fc_bias, hidden, rows, D, F
  - kernel: grad_hidden<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: grad_y, proj_weight, hidden, grad_fc, rows, D, F
  - else:
    kernel: grad_hidden<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: grad_y, proj_weight, hidden, grad_fc, rows, D, F
  - kernel: grad_input<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(D, 128)
    block: TILE_M * 2
    args: grad_fc, fc_weight, grad_x, rows, D, F
  - else:
    kernel: grad_input<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(D, 128)
    block: TILE_M * 2
    args: grad_fc, fc_weight, grad_x, rows, D, F
  - kernel: grad_weights<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: fc_tiles + proj_tiles, PARTS
    block: TILE_M * 2
    args: grad_fc, x, partial_fc, grad_y, hidden, partial_proj, rows, part, F, D, fc_tiles
  - else:
    kernel: grad_weights<TILE_M, 128, DEPTH, 0>
    grid: fc_tiles + proj_tiles, PARTS
    block: TILE_M * 2
    args: grad_fc, x, partial_fc, grad_y, hidden, partial_proj, rows, part, F, D, fc_tiles
  - kernel: column_slice
    grid: ceildiv(F + D, 32), slices
    block: 32, 8
    args: grad_fc, grad_y, partial_bias, rows, slice_rows, F, D
  - kernel: gather
    grid: ceildiv(F * D, 256), 2
    block: 256
    args: partial_fc, grad_fc_weight, partial_proj, grad_proj_weight, F * D, F * D, PARTS
  - kernel: gather_biases
    grid: ceildiv(F + D, 256)
    block: 256
    args: partial_bias, grad_fc_bias, grad_proj_bias, F, D, slices
*/

/* With f = fc x + bias:  gelu'(f) = (1 + erf(f / sqrt 2)) / 2 + f * exp(-f^2 / 2) / sqrt(2 pi).  The first launch leaves f in scratch; the
 * second makes the hidden layer's gradient, from which, while it is in registers, follow the gradient of f and, where f lay, hidden =
 * gelu(f).  Then come one product for grad_x and one launch for both weights, whose sums over the rows are cut into PARTS that a last
 * launch adds, so that there are tiles enough; the biases are column sums in slices.
 *
 * A thread keeps 8 x 8 sums in registers and reads what it multiplies from shared memory as vectors, 16 numbers for 64
 * multiplications.  RESIDENT is how many threads a multiprocessor should hold: fewer have more registers each. */

/* Four neighbours, of which `left` lie inside: as one vector where `vector` says that all four do or none, and lie on 16 bytes. */
template <bool vector> __device__ float4 four_at(const float *at, int left) {
   float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
   if (left <= 0)
      return four;
   if (vector)
      return *(const float4 *)at;
   four.x = at[0];
   if (left > 1)
      four.y = at[1];
   if (left > 2)
      four.z = at[2];
   if (left > 3)
      four.w = at[3];
   return four;
}

/* A matrix whose rows are contiguous along k, from a tile's first row and k on. */
template <bool vector> struct ByRow {
   static constexpr bool along_depth = true;
   const float *data;
   int pitch, rows;
   __device__ ByRow(const float *all, int pitch, int all_rows, int first_row, int first_k)
       : data(all + (long long)first_row * pitch + first_k), pitch(pitch), rows(all_rows - first_row) {}
   __device__ void advance(int depth) { data += depth; }
   __device__ float4 four(int row, int k, int left) const {
      return four_at<vector>(data + (row * pitch + k), row < rows ? left - k : 0);
   }
};

/* A matrix whose rows are neighbours in memory: element (row, k) lies at data[k * pitch + row]. */
template <bool vector> struct ByColumn {
   static constexpr bool along_depth = false;
   const float *data;
   int pitch, rows;
   __device__ ByColumn(const float *all, int pitch, int all_rows, int first_row, int first_k)
       : data(all + (long long)first_k * pitch + first_row), pitch(pitch), rows(all_rows - first_row) {}
   __device__ void advance(int depth) { data += (long long)depth * pitch; }
   __device__ float4 four(int row, int k, int left) const {
      return four_at<vector>(data + (k * pitch + row), k < left ? rows - row : 0);
   }
};

/* Brings a tile of `rows` x `depth` numbers into registers, zero outside, in groups of four along what is contiguous. */
template <int rows, int depth, int threads, class Matrix>
__device__ void fetch(float4 (&kept)[rows * depth / 4 / threads], const Matrix &matrix, int left) {
#pragma unroll
   for (int v = 0; v < rows * depth / 4 / threads; v++) {
      const int index = threadIdx.x + v * threads;
      if (Matrix::along_depth)
         kept[v] = matrix.four(index / (depth / 4), index % (depth / 4) * 4, left);
      else
         kept[v] = matrix.four(index % (rows / 4) * 4, index / (rows / 4), left);
   }
}

/* From registers into shared memory, where neighbours along the rows lie side by side. */
template <int rows, int depth, int threads, class Matrix>
__device__ void store(float (&tile)[depth][rows + 4], const float4 (&kept)[rows * depth / 4 / threads]) {
#pragma unroll
   for (int v = 0; v < rows * depth / 4 / threads; v++) {
      const int index = threadIdx.x + v * threads;
      if (Matrix::along_depth) {
         const int row = index / (depth / 4), k = index % (depth / 4) * 4;
         tile[k][row] = kept[v].x;
         tile[k + 1][row] = kept[v].y;
         tile[k + 2][row] = kept[v].z;
         tile[k + 3][row] = kept[v].w;
      } else {
         *(float4 *)&tile[index / (rows / 4)][index % (rows / 4) * 4] = kept[v];
      }
   }
}

/* Where a thread's 8 x 8 results lie in a tile: a warp has 32 rows and 64 columns, a thread four neighbours and the four half of that
 * further, both ways.  Lanes are dealt out so that the vectors that half a warp reads from shared memory lie in different banks
 * or are the same. */
template <int tile_n> __device__ int first_row_of_thread() {
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   return warp / (tile_n / 64) * 32 + (lane % 2 + lane / 16 * 2) * 4;
}
template <int tile_n> __device__ int first_column_of_thread() {
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   return warp % (tile_n / 64) * 64 + lane / 2 % 8 * 4;
}
__device__ constexpr int row_offset(int i) { return i % 4 + i / 4 * 16; }
__device__ constexpr int column_offset(int j) { return j % 4 + j / 4 * 32; }

__device__ void pick(float (&eight)[8], const float *near, const float *far) {
   const float4 a = *(const float4 *)near, b = *(const float4 *)far;
   eight[0] = a.x;
   eight[1] = a.y;
   eight[2] = a.z;
   eight[3] = a.w;
   eight[4] = b.x;
   eight[5] = b.y;
   eight[6] = b.z;
   eight[7] = b.w;
}

/* Two pairs of tiles, one being multiplied and one being filled. */
template <int tile_m, int tile_n, int depth> struct Tiles {
   float a[2][depth][tile_m + 4], b[2][depth][tile_n + 4];
};

/* sum += products over `left` k for a tile of tile_m x tile_n results, 8 x 8 of them a thread.  While one pair of tiles is multiplied,
 * the next is on its way from memory.  A warp whose results all lie outside only helps to carry. */
template <int tile_m, int tile_n, int depth, class A, class B>
__device__ void tile_product(float (&sum)[8][8], Tiles<tile_m, tile_n, depth> &tiles, A a, B b, int left) {
   constexpr int threads = tile_m * tile_n / 64, unrolled = depth > 8 && RESIDENT >= 512 ? 4 : 8; /* as registers allow */
   float4 a_next[tile_m * depth / 4 / threads], b_next[tile_n * depth / 4 / threads];
   const int row = first_row_of_thread<tile_n>(), column = first_column_of_thread<tile_n>();
   const bool busy = row / 32 * 32 < a.rows && column / 64 * 64 < b.rows;
   fetch<tile_m, depth, threads>(a_next, a, left);
   fetch<tile_n, depth, threads>(b_next, b, left);
   store<tile_m, depth, threads, A>(tiles.a[0], a_next);
   store<tile_n, depth, threads, B>(tiles.b[0], b_next);
   __syncthreads();
   for (int side = 0; left > 0; left -= depth, side ^= 1) {
      const bool more = left > depth;
      if (more) {
         a.advance(depth);
         b.advance(depth);
         fetch<tile_m, depth, threads>(a_next, a, left - depth);
         fetch<tile_n, depth, threads>(b_next, b, left - depth);
      }
      if (busy) {
#pragma unroll unrolled
         for (int k = 0; k < depth; k++) {
            float down[8], across[8];
            pick(down, &tiles.a[side][k][row], &tiles.a[side][k][row + 16]);
            pick(across, &tiles.b[side][k][column], &tiles.b[side][k][column + 32]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
               for (int j = 0; j < 8; j++)
                  sum[i][j] += down[i] * across[j];
         }
      }
      if (more) {
         store<tile_m, depth, threads, A>(tiles.a[side ^ 1], a_next);
         store<tile_n, depth, threads, B>(tiles.b[side ^ 1], b_next);
      }
      __syncthreads();
   }
}

/* Four neighbours of a row that is `count` long, as one vector where every row begins at a multiple of four. */
template <bool vector> __device__ void put(float *line, int column, int count, float4 four) {
   if (vector) {
      if (column < count)
         *(float4 *)(line + column) = four;
      return;
   }
   if (column < count)
      line[column] = four.x;
   if (column + 1 < count)
      line[column + 1] = four.y;
   if (column + 2 < count)
      line[column + 2] = four.z;
   if (column + 3 < count)
      line[column + 3] = four.w;
}

/* A thread's results into a matrix of `columns` columns. */
template <bool vector, int tile_n>
__device__ void put_tile(float *to, const float (&sum)[8][8], int first_row, int first_column, int rows, int columns) {
   const int row = first_row + first_row_of_thread<tile_n>(), column = first_column + first_column_of_thread<tile_n>();
#pragma unroll
   for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < 8; j += 4)
         if (row + row_offset(i) < rows)
            put<vector>(to + (long long)(row + row_offset(i)) * columns, column + column_offset(j), columns,
                        make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]));
}

template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   hidden_layer(const float *x, const float *weight, const float *bias, float *hidden, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   float sum[8][8] = {};
   tile_product(sum, tiles, ByRow<vector>(x, D, rows, first_row, 0), ByRow<vector>(weight, D, F, first_column, 0), D);
#pragma unroll
   for (int j = 0; j < 8; j++) {
      const int column = first_column + first_column_of_thread<tile_n>() + column_offset(j);
      const float more = column < F ? bias[column] : 0.0f;
#pragma unroll
      for (int i = 0; i < 8; i++)
         sum[i][j] += more;
   }
   put_tile<vector, tile_n>(hidden, sum, first_row, first_column, rows, F);
}

/* From a gradient of gelu(f) and f to that of f, and from f to gelu(f). */
__device__ void through_gelu(float &grad, float &f) {
   const float share = 0.5f * (1.0f + erff(f * 0.70710678f));
   grad *= share + f * 0.39894228f * expf(-0.5f * f * f);
   f *= share;
}

template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_hidden(const float *grad_y, const float *weight, float *hidden, float *grad_fc, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   float sum[8][8] = {};
   tile_product(sum, tiles, ByRow<vector>(grad_y, D, rows, first_row, 0), ByColumn<vector>(weight, F, F, first_column, 0), D);
   const int row = first_row + first_row_of_thread<tile_n>(), column = first_column + first_column_of_thread<tile_n>();
#pragma unroll
   for (int i = 0; i < 8; i++) {
      if (row + row_offset(i) >= rows)
         continue;
      const long long line = (long long)(row + row_offset(i)) * F;
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
         const int at = column + column_offset(j);
         float4 f = four_at<vector>(hidden + line + at, F - at);
         through_gelu(sum[i][j], f.x);
         through_gelu(sum[i][j + 1], f.y);
         through_gelu(sum[i][j + 2], f.z);
         through_gelu(sum[i][j + 3], f.w);
         put<vector>(hidden + line, at, F, f);
         put<vector>(grad_fc + line, at, F, make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]));
      }
   }
}

template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_input(const float *grad_fc, const float *weight, float *grad_x, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   float sum[8][8] = {};
   tile_product(sum, tiles, ByRow<vector>(grad_fc, F, rows, first_row, 0), ByColumn<vector>(weight, D, D, first_column, 0), F);
   put_tile<vector, tile_n>(grad_x, sum, first_row, first_column, rows, D);
}

/* A part of the rows of both weights' gradients: the first first_tiles blocks have those of fc, grad_fc' x, the others those of proj,
 * grad_y' hidden. */
template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_weights(const float *grad_fc, const float *x, float *first_partial, const float *grad_y, const float *hidden, float *second_partial,
                int rows, int part, int F, int D, int first_tiles) {
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   const bool second = blockIdx.x >= first_tiles;
   const int tile = blockIdx.x - (second ? first_tiles : 0), M = second ? D : F, N = second ? F : D, across = (N + tile_n - 1) / tile_n;
   const int first_m = tile / across * tile_m, first_n = tile % across * tile_n, first = blockIdx.y * part;
   float sum[8][8] = {};
   if (first < rows)
      tile_product(sum, tiles, ByColumn<vector>(second ? grad_y : grad_fc, M, M, first_m, first),
                   ByColumn<vector>(second ? hidden : x, N, N, first_n, first), min(part, rows - first));
   put_tile<vector, tile_n>((second ? second_partial : first_partial) + (long long)blockIdx.y * M * N, sum, first_m, first_n, M, N);
}

/* Column sums of two matrices over one slice of the rows: 32 columns a block, 8 threads a column. */
__global__ void __launch_bounds__(256) column_slice(const float *first_matrix, const float *second_matrix, float *partial, int rows,
                                                    int slice_rows, int first_columns, int second_columns) {
   __shared__ float part[8][32];
   const int at = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * slice_rows, last = min(first + slice_rows, rows);
   const bool second = at >= first_columns, inside = at < first_columns + second_columns;
   const float *matrix = second ? second_matrix + (at - first_columns) : first_matrix + at;
   const int columns = second ? second_columns : first_columns;
   float sum = 0.0f;
   if (inside)
#pragma unroll 4
      for (int row = first + threadIdx.y; row < last; row += 8)
         sum += matrix[(long long)row * columns];
   part[threadIdx.y][threadIdx.x] = sum;
   __syncthreads();
   if (threadIdx.y == 0 && inside) {
      for (int i = 1; i < 8; i++)
         sum += part[i][threadIdx.x];
      partial[(long long)blockIdx.y * (first_columns + second_columns) + at] = sum;
   }
}

/* The sums of the parts of two results, in their order: the same at every run. */
__global__ void __launch_bounds__(256) gather(const float *first_parts, float *first, const float *second_parts, float *second,
                                              int first_count, int second_count, int parts) {
   const int i = blockIdx.x * 256 + threadIdx.x, count = blockIdx.y ? second_count : first_count;
   const float *from = blockIdx.y ? second_parts : first_parts;
   if (i >= count)
      return;
   float sum = 0.0f;
#pragma unroll 4
   for (int p = 0; p < parts; p++)
      sum += from[(long long)p * count + i];
   (blockIdx.y ? second : first)[i] = sum;
}

/* The biases' gradients from their slices, which hold both. */
__global__ void __launch_bounds__(256)
   gather_biases(const float *slices, float *first, float *second, int first_count, int second_count, int slice_count) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   if (i >= first_count + second_count)
      return;
   float sum = 0.0f;
#pragma unroll 8
   for (int slice = 0; slice < slice_count; slice++)
      sum += slices[(long long)slice * (first_count + second_count) + i];
   (i < first_count ? first + i : second + (i - first_count))[0] = sum;
}
