/* rkb-kernel: 1
task: llama_ffw
direction: backward
tune:
  TILE_M: {default: 128, choices: [64, 128]}
  DEPTH: {default: 8, choices: [8, 16]}
  RESIDENT: {default: 512, choices: [384, 512]}
  PARTS: {default: 4, choices: [2, 4]}
let:
  rows: B * T
  part: ceildiv(ceildiv(F, PARTS), 16) * 16
  tiles: ceildiv(F, TILE_M) * ceildiv(D, 128)
  down_tiles: ceildiv(D, TILE_M) * ceildiv(F, 128)
scratch:
  gate: {dtype: float32, shape: "rows, F"}
  up: {dtype: float32, shape: "rows, F"}
  hidden: {dtype: float32, shape: "rows, F"}
  partial: {dtype: float32, shape: "2 * PARTS, rows, D"}
launches:
  - kernel: gate_and_up<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128), 2
    block: TILE_M * 2
    args: x, gate_weight, up_weight, gate, up, rows, D, F
  - else:
    kernel: gate_and_up<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128), 2
    block: TILE_M * 2
    args: x, gate_weight, up_weight, gate, up, rows, D, F
  - kernel: grad_hidden<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: grad_y, down_weight, gate, up, hidden, rows, D, F
  - else:
    kernel: grad_hidden<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(F, 128)
    block: TILE_M * 2
    args: grad_y, down_weight, gate, up, hidden, rows, D, F
  - kernel: grad_input<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: ceildiv(rows, TILE_M), ceildiv(D, 128), 2 * PARTS
    block: TILE_M * 2
    args: gate, up, gate_weight, up_weight, partial, rows, D, F, part
  - else:
    kernel: grad_input<TILE_M, 128, DEPTH, 0>
    grid: ceildiv(rows, TILE_M), ceildiv(D, 128), 2 * PARTS
    block: TILE_M * 2
    args: gate, up, gate_weight, up_weight, partial, rows, D, F, part
  - kernel: gather<2 * PARTS>
    grid: ceildiv(rows * D, 256)
    block: 256
    args: partial, grad_x, rows * D
  - kernel: grad_weights<TILE_M, 128, DEPTH, 1>
    when: D % 4 == 0 and F % 4 == 0
    grid: 2 * tiles + down_tiles
    block: TILE_M * 2
    args: gate, up, x, grad_gate_weight, grad_up_weight, grad_y, hidden, grad_down_weight, rows, F, D, tiles
  - else:
    kernel: grad_weights<TILE_M, 128, DEPTH, 0>
    grid: 2 * tiles + down_tiles
    block: TILE_M * 2
    args: gate, up, x, grad_gate_weight, grad_up_weight, grad_y, hidden, grad_down_weight, rows, F, D, tiles
*/

/* With s = sigmoid(gate):  hidden = gate * s * up, and for its gradient h,  grad_up = h * gate * s  and
 * grad_gate = h * up * s * (1 + gate * (1 - s)).  The first launch leaves gate and up in scratch; the second makes h, from which, while it is
 * in registers, follow hidden and, where gate and up lay, their gradients.  Then comes the sum over both for grad_x, cut into parts so that
 * few rows still fill the device, and one launch for the three weights, which sum over the rows.
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
   gate_and_up(const float *x, const float *gate_weight, const float *up_weight, float *gate, float *up, int rows, int D, int F) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n;
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   float sum[8][8] = {};
   tile_product(sum, tiles, ByRow<vector>(x, D, rows, first_row, 0),
                ByRow<vector>(blockIdx.z ? up_weight : gate_weight, D, F, first_column, 0), D);
   put_tile<vector, tile_n>(blockIdx.z ? up : gate, sum, first_row, first_column, rows, F);
}

/* From the hidden layer's gradient, gate and up to hidden and the gradients of gate and up, in place. */
__device__ void through_gate(float &grad, float &gate, float &up) {
   const float s = 1.0f / (1.0f + expf(-gate)), silu = gate * s, hidden = silu * up;
   const float grad_gate = grad * up * s * (1.0f + gate * (1.0f - s));
   up = grad * silu;
   gate = grad_gate;
   grad = hidden;
}

template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_hidden(const float *grad_y, const float *weight, float *gate, float *up, float *hidden, int rows, int D, int F) {
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
         float4 a = four_at<vector>(gate + line + at, F - at), b = four_at<vector>(up + line + at, F - at);
         through_gate(sum[i][j], a.x, b.x);
         through_gate(sum[i][j + 1], a.y, b.y);
         through_gate(sum[i][j + 2], a.z, b.z);
         through_gate(sum[i][j + 3], a.w, b.w);
         put<vector>(gate + line, at, F, a);
         put<vector>(up + line, at, F, b);
         put<vector>(hidden + line, at, F, make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]));
      }
   }
}

/* A part of grad_x: the first half of the parts sums over the gate's columns, the second over the other product's. */
template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_input(const float *grad_gate, const float *grad_up, const float *gate_weight, const float *up_weight, float *partial, int rows,
              int D, int F, int part) {
   const int first_row = blockIdx.x * tile_m, first_column = blockIdx.y * tile_n, parts = gridDim.z / 2;
   const bool second = blockIdx.z >= parts;
   const int first_k = (blockIdx.z - (second ? parts : 0)) * part;
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   float sum[8][8] = {};
   if (first_k < F)
      tile_product(sum, tiles, ByRow<vector>(second ? grad_up : grad_gate, F, rows, first_row, first_k),
                   ByColumn<vector>(second ? up_weight : gate_weight, D, D, first_column, first_k), min(part, F - first_k));
   put_tile<vector, tile_n>(partial + (long long)blockIdx.z * rows * D, sum, first_row, first_column, rows, D);
}

template <int parts> __global__ void __launch_bounds__(256) gather(const float *partial, float *out, long long count) {
   const long long i = blockIdx.x * 256ll + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
#pragma unroll
   for (int p = 0; p < parts; p++)
      sum += partial[p * count + i];
   out[i] = sum;
}

/* The weights' gradients, sums over the rows: `count` tiles of grad_gate' x, as many of grad_up' x, and then those of grad_y' hidden. */
template <int tile_m, int tile_n, int depth, bool vector>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 64 * RESIDENT / (tile_m * tile_n))
   grad_weights(const float *grad_gate, const float *grad_up, const float *x, float *gate_out, float *up_out, const float *grad_y,
                const float *hidden, float *down_out, int rows, int F, int D, int count) {
   __shared__ __align__(16) Tiles<tile_m, tile_n, depth> tiles;
   const int which = min((int)blockIdx.x / count, 2), tile = blockIdx.x - which * count;
   const int M = which == 2 ? D : F, N = which == 2 ? F : D, across = (N + tile_n - 1) / tile_n;
   const int first_m = tile / across * tile_m, first_n = tile % across * tile_n;
   const float *grad = which == 0 ? grad_gate : which == 1 ? grad_up : grad_y;
   float sum[8][8] = {};
   tile_product(sum, tiles, ByColumn<vector>(grad, M, M, first_m, 0), ByColumn<vector>(which == 2 ? hidden : x, N, N, first_n, 0), rows);
   put_tile<vector, tile_n>(which == 0 ? gate_out : which == 1 ? up_out : down_out, sum, first_m, first_n, M, N);
}
