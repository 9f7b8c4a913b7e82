/* rkb-kernel: 1
task: unet_linear
direction: backward
tune:
  TILE_M: {default: 128, choices: [64, 128]}
  DEPTH: {default: 8, choices: [8, 16]}
  RESIDENT: {default: 512, choices: [384, 512]}
  SLICES: {default: 128, choices: [64, 128]}
let:
  rows: N * T
  slices: max(1, min(min(SLICES, ceildiv(rows, 64)), 4194304 / (O * I)))
  slice_rows: ceildiv(ceildiv(rows, slices), 16) * 16
  input_blocks: ceildiv(rows, TILE_M) * ceildiv(I, 128)
  weight_blocks: ceildiv(O, TILE_M) * ceildiv(I, 128)
  lines: slices * 2
scratch:
  partial_weight: {dtype: float32, shape: "slices, O, I"}
  partial_bias: {dtype: float32, shape: "lines, O"}
launches:
  - kernel: gradients<TILE_M, 128, DEPTH, 1>
    when: I % 4 == 0 and O % 4 == 0
    grid: input_blocks + weight_blocks * slices
    block: TILE_M * 2
    args: grad_y, x, weight, grad_x, partial_weight, partial_bias, rows, slice_rows, I, O, input_blocks
  - else:
    kernel: gradients<TILE_M, 128, DEPTH, 0>
    grid: input_blocks + weight_blocks * slices
    block: TILE_M * 2
    args: grad_y, x, weight, grad_x, partial_weight, partial_bias, rows, slice_rows, I, O, input_blocks
  - kernel: sum_slices
    grid: ceildiv(O * I, 32) + ceildiv(O, 32)
    block: 256
    args: partial_weight, grad_weight, O * I, slices, partial_bias, grad_bias, O, lines
*/

/* With g = grad_y:  grad_x = g * weight, grad_weight = g' * x, grad_bias = column sums of g.  One launch: its first input_blocks blocks take a
 * tile of grad_x each, the others a tile of grad_weight over one slice of the rows, of which there may be many for few results; a
 * second launch adds the slices.  No atomics, the order is fixed.
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
   gradients(const float *grad, const float *x, const float *weight, float *grad_x, float *partial_weight, float *partial_bias,
             int rows, int slice_rows, int inner, int outer, int input_blocks) {
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   const int across = (inner + tile_n - 1) / tile_n, down = (outer + tile_m - 1) / tile_m;
   float sum[8][8] = {};
   if (blockIdx.x < input_blocks) {
      const int first_row = blockIdx.x / across * tile_m, first_column = blockIdx.x % across * tile_n;
      tile_product(sum, tiles, ByRow<vector>(grad, outer, rows, first_row, 0), ByColumn<vector>(weight, inner, inner, first_column, 0),
                   outer);
      put_tile<vector, tile_n>(grad_x, sum, first_row, first_column, rows, inner);
      return;
   }
   const int block = blockIdx.x - input_blocks, slice = block / (across * down);
   const int first_output = block / across % down * tile_m, first_input = block % across * tile_n;
   const int first = slice * slice_rows, last = min(first + slice_rows, rows);
   if (first < rows)
      tile_product(sum, tiles, ByColumn<vector>(grad, outer, outer, first_output, first),
                   ByColumn<vector>(x, inner, inner, first_input, first), last - first);
   put_tile<vector, tile_n>(partial_weight + (long long)slice * outer * inner, sum, first_output, first_input, outer, inner);
   /* tile_n / 64 threads an output share its bias's slice */
   const int output = first_output + threadIdx.x % tile_m, line = threadIdx.x / tile_m;
   if (first_input > 0 || output >= outer)
      return;
   float bias = 0.0f;
#pragma unroll 8
   for (int row = first + line; row < last; row += tile_n / 64)
      bias += grad[(long long)row * outer + output];
   partial_bias[(long long)(slice * (tile_n / 64) + line) * outer + output] = bias;
}

/* out[i] = sum of the slices' element i, for a weight and then a bias: 32 elements a block, 8 warps share the slices. */
__global__ void __launch_bounds__(256) sum_slices(const float *weights, float *weight, int weight_count, int weight_slices,
                                                  const float *biases, float *bias, int bias_count, int bias_slices) {
   __shared__ float part[8][32];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, weight_blocks = (weight_count + 31) / 32;
   const bool of_bias = blockIdx.x >= weight_blocks;
   const float *slices = of_bias ? biases : weights;
   const int i = (blockIdx.x - (of_bias ? weight_blocks : 0)) * 32 + lane, count = of_bias ? bias_count : weight_count;
   const int slice_count = of_bias ? bias_slices : weight_slices;
   float sum = 0.0f;
   if (i < count)
#pragma unroll 8
      for (int slice = warp; slice < slice_count; slice += 8)
         sum += slices[(long long)slice * count + i];
   part[warp][lane] = sum;
   __syncthreads();
   if (warp == 0 && i < count) {
      for (int w = 1; w < 8; w++)
         sum += part[w][lane];
      (of_bias ? bias : weight)[i] = sum;
   }
}
