/* rkb-kernel: 1
task: attention
direction: backward
tune:
  DOT_UNROLL: {default: 2, choices: [2, 4]}
  SUM_UNROLL: {default: 2, choices: [2, 4]}
let:
  operand: 64 * (D + 4)
  threads: 2 * D
scratch:
  normaliser: {dtype: float32, shape: "B, H, T"}
  mean: {dtype: float32, shape: "B, H, T"}
launches:
  - kernel: row_numbers<64>
    when: D == 64
    grid: ceildiv(T, 64), B * H
    block: threads
    shared: 4 * 4 * operand
    args: grad_y, q, k, v, normaliser, mean, scale, T, S, causal
  - else:
    kernel: row_numbers<128>
    grid: ceildiv(T, 64), B * H
    block: threads
    shared: 4 * 4 * operand
    args: grad_y, q, k, v, normaliser, mean, scale, T, S, causal
  - kernel: grad_query<64>
    when: D == 64
    grid: ceildiv(T, 64), B * H
    block: threads
    shared: 4 * (4 * operand + 64 * 68)
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, T, S, causal
  - else:
    kernel: grad_query<128>
    grid: ceildiv(T, 64), B * H
    block: threads
    shared: 4 * (4 * operand + 64 * 68)
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, T, S, causal
  - kernel: grad_key_value<64>
    when: D == 64
    grid: ceildiv(S, 64), B * H
    block: threads
    shared: 4 * (4 * operand + 2 * 64 * 68)
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, T, S, causal
  - else:
    kernel: grad_key_value<128>
    grid: ceildiv(S, 64), B * H
    block: threads
    shared: 4 * (4 * operand + 2 * 64 * 68)
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, T, S, causal
*/

/* With p = softmax(scale q k') and dp = grad_y v':  grad_v = p' grad_y,  ds = p * (dp - sum over keys of p * dp) * scale,
 * grad_q = ds k,  grad_k = ds' q.  The first launch finds each query's log of the sum of exponentials and its mean of dp under p,
 * so that the others can make p and ds again tile by tile.  Then one block for 64 queries sums over keys, and one block for 64
 * keys sums over queries: every sum has one owner, so there are no atomics.
 *
 * Tiles are 64 x 64; a warp has 32 rows and a share of the columns, a thread every fourth of the rows, eight of them, and every eighth of its
 * warp's columns.  Everything lies in shared memory as it lies in memory, and both kinds of product read four neighbours at once:
 * along the head dim where rows are multiplied with rows, and along the sum otherwise. */

constexpr int side = 64, pitch = side + 4, dot_unroll = DOT_UNROLL, sum_unroll = SUM_UNROLL;
constexpr float nothing = -3.402823466e38f, log2_of_e = 1.44269504f;

/* Where a thread stands in its block of 2 * D threads. */
template <int D> struct Place {
   static constexpr int shares = D / 32, columns = side / 8 / shares; /* warps for 32 rows, and columns a thread */
   int first_row, share, group;
   __device__ Place() {
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
      first_row = warp / shares * 32 + lane % 2 + lane / 16 * 2;
      share = warp % shares;
      group = lane / 2 % 8;
   }
   __device__ int row(int i) const { return first_row + 4 * i; }
   __device__ int column(int j) const { return share * (side / shares) + group + 8 * j; }
   __device__ int dim() const { return share * 32 + group * 4; }
};

/* 64 rows of D numbers from memory into shared memory, zero from row `left` on. */
template <int D> __device__ void load_rows(float *rows, const float *from, int left) {
#pragma unroll 4
   for (int i = threadIdx.x * 4; i < side * D; i += 2 * D * 4)
      *(float4 *)(rows + i / D * (D + 4) + i % D) = i / D < left ? *(const float4 *)(from + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

/* out[i][j] = row i of one tile times row j of the other. */
template <int D, int columns> __device__ void dots(float (&out)[8][columns], const float *rows, const float *others, const Place<D> &place) {
   const float *first = rows + place.first_row * (D + 4), *second = others + place.column(0) * (D + 4);
#pragma unroll
   for (int i = 0; i < 8; i++)
#pragma unroll
      for (int j = 0; j < columns; j++)
         out[i][j] = 0.0f;
#pragma unroll dot_unroll
   for (int d = 0; d < D; d += 4) {
      float4 left[8];
#pragma unroll
      for (int i = 0; i < 8; i++)
         left[i] = *(const float4 *)(first + 4 * i * (D + 4) + d);
#pragma unroll
      for (int j = 0; j < columns; j++) {
         const float4 right = *(const float4 *)(second + 8 * j * (D + 4) + d);
#pragma unroll
         for (int i = 0; i < 8; i++) {
            out[i][j] += left[i].x * right.x;
            out[i][j] += left[i].y * right.y;
            out[i][j] += left[i].z * right.z;
            out[i][j] += left[i].w * right.w;
         }
      }
   }
}

/* sum[i] += for four dims, the factors of row i times the rows of the other tile. */
template <int D> __device__ void add_rows(float (&sum)[8][4], const float *factors, const float *rows, const Place<D> &place) {
   const float *first = factors + place.first_row * pitch, *second = rows + place.dim();
#pragma unroll sum_unroll
   for (int k = 0; k < side; k += 4) {
      float4 left[8];
#pragma unroll
      for (int i = 0; i < 8; i++)
         left[i] = *(const float4 *)(first + 4 * i * pitch + k);
#pragma unroll
      for (int e = 0; e < 4; e++) {
         const float4 right = *(const float4 *)(second + (k + e) * (D + 4));
#pragma unroll
         for (int i = 0; i < 8; i++) {
            const float factor = e == 0 ? left[i].x : e == 1 ? left[i].y : e == 2 ? left[i].z : left[i].w;
            sum[i][0] += factor * right.x;
            sum[i][1] += factor * right.y;
            sum[i][2] += factor * right.z;
            sum[i][3] += factor * right.w;
         }
      }
   }
}

/* Every query's logarithm (to base 2) of its sum of exponentials, and its mean of dp under p. */
template <int D>
__global__ void __launch_bounds__(2 * D)
   row_numbers(const float *grad_y, const float *q, const float *k, const float *v, float *normaliser, float *mean, float scale, int T,
               int S, int causal) {
   constexpr int columns = Place<D>::columns, shares = Place<D>::shares;
   extern __shared__ __align__(16) float shared[];
   __shared__ float peaks[shares][side], totals[shares][side], products[shares][side];
   float *queries = shared, *grads = queries + side * (D + 4), *keys = grads + side * (D + 4), *values = keys + side * (D + 4);
   const Place<D> place;
   const int first_query = blockIdx.x * side, last_key = causal ? min(S, first_query + side) : S;
   const long long head = blockIdx.y, at_queries = (head * T + first_query) * D, at_keys = head * S * D;
   const float to_power = scale * log2_of_e;
   load_rows<D>(queries, q + at_queries, T - first_query);
   load_rows<D>(grads, grad_y + at_queries, T - first_query);

   float peak[8], total[8] = {}, product[8] = {}; /* over this thread's keys alone */
#pragma unroll
   for (int i = 0; i < 8; i++)
      peak[i] = nothing;
   const bool busy = first_query + place.first_row / 32 * 32 < T;
   for (int first_key = 0; first_key < last_key; first_key += side) {
      __syncthreads(); /* the tiles before are used up */
      load_rows<D>(keys, k + at_keys + (long long)first_key * D, S - first_key);
      load_rows<D>(values, v + at_keys + (long long)first_key * D, S - first_key);
      __syncthreads();
      if (!busy)
         continue;
      float score[8][columns], dp[8][columns];
      dots<D>(score, queries, keys, place);
      dots<D>(dp, grads, values, place);
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const int query = first_query + place.row(i);
         float larger = peak[i];
#pragma unroll
         for (int j = 0; j < columns; j++) {
            const int key = first_key + place.column(j);
            score[i][j] = key < S && (!causal || key <= query) ? score[i][j] * to_power : nothing;
            larger = fmaxf(larger, score[i][j]);
         }
         const float factor = exp2f(peak[i] - larger);
         total[i] *= factor;
         product[i] *= factor;
         peak[i] = larger;
#pragma unroll
         for (int j = 0; j < columns; j++) {
            const float power = score[i][j] > nothing ? exp2f(score[i][j] - larger) : 0.0f;
            total[i] += power;
            product[i] += power * dp[i][j];
         }
      }
   }

#pragma unroll
   for (int i = 0; i < 8; i++) {
      float larger = peak[i];
      for (int distance = 2; distance < 16; distance *= 2)
         larger = fmaxf(larger, __shfl_xor_sync(0xffffffffu, larger, distance));
      const float factor = exp2f(peak[i] - larger);
      total[i] *= factor;
      product[i] *= factor;
      for (int distance = 2; distance < 16; distance *= 2) {
         total[i] += __shfl_xor_sync(0xffffffffu, total[i], distance);
         product[i] += __shfl_xor_sync(0xffffffffu, product[i], distance);
      }
      if (place.group == 0) {
         peaks[place.share][place.row(i)] = larger;
         totals[place.share][place.row(i)] = total[i];
         products[place.share][place.row(i)] = product[i];
      }
   }
   __syncthreads();
   const int row = threadIdx.x;
   if (row >= side || first_query + row >= T)
      return;
   float larger = nothing, sum = 0.0f, weighted = 0.0f;
#pragma unroll
   for (int share = 0; share < shares; share++)
      larger = fmaxf(larger, peaks[share][row]);
#pragma unroll
   for (int share = 0; share < shares; share++) {
      const float factor = exp2f(peaks[share][row] - larger);
      sum += totals[share][row] * factor;
      weighted += products[share][row] * factor;
   }
   normaliser[head * T + first_query + row] = larger + __log2f(sum);
   mean[head * T + first_query + row] = weighted / sum;
}

template <int D>
__global__ void __launch_bounds__(2 * D)
   grad_query(const float *grad_y, const float *q, const float *k, const float *v, const float *normaliser, const float *mean,
              float *grad_q, float scale, int T, int S, int causal) {
   constexpr int columns = Place<D>::columns;
   extern __shared__ __align__(16) float shared[];
   float *queries = shared, *grads = queries + side * (D + 4), *keys = grads + side * (D + 4), *values = keys + side * (D + 4),
         *factors = values + side * (D + 4);
   const Place<D> place;
   const int first_query = (causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * side; /* the longest first */
   const int last_key = causal ? min(S, first_query + side) : S;
   const long long head = blockIdx.y, at_queries = (head * T + first_query) * D, at_keys = head * S * D;
   const float to_power = scale * log2_of_e;
   load_rows<D>(queries, q + at_queries, T - first_query);
   load_rows<D>(grads, grad_y + at_queries, T - first_query);
   const bool busy = first_query + place.first_row / 32 * 32 < T;
   float sum[8][4] = {}, logarithm[8] = {}, middle[8] = {};
#pragma unroll
   for (int i = 0; i < 8; i++)
      if (first_query + place.row(i) < T) {
         logarithm[i] = normaliser[head * T + first_query + place.row(i)];
         middle[i] = mean[head * T + first_query + place.row(i)];
      }

   for (int first_key = 0; first_key < last_key; first_key += side) {
      __syncthreads(); /* the tiles before are used up */
      load_rows<D>(keys, k + at_keys + (long long)first_key * D, S - first_key);
      load_rows<D>(values, v + at_keys + (long long)first_key * D, S - first_key);
      __syncthreads();
      if (busy) {
         float score[8][columns], dp[8][columns];
         dots<D>(score, queries, keys, place);
         dots<D>(dp, grads, values, place);
#pragma unroll
         for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < columns; j++) {
               const int query = first_query + place.row(i), key = first_key + place.column(j);
               const bool seen = key < S && query < T && (!causal || key <= query);
               const float power = seen ? exp2f(score[i][j] * to_power - logarithm[i]) : 0.0f;
               factors[place.row(i) * pitch + place.column(j)] = power * (dp[i][j] - middle[i]) * scale;
            }
      }
      __syncthreads();
      if (busy)
         add_rows<D>(sum, factors, keys, place);
   }
#pragma unroll
   for (int i = 0; i < 8; i++)
      if (first_query + place.row(i) < T)
         *(float4 *)(grad_q + at_queries + (long long)place.row(i) * D + place.dim()) =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

template <int D>
__global__ void __launch_bounds__(2 * D)
   grad_key_value(const float *grad_y, const float *q, const float *k, const float *v, const float *normaliser, const float *mean,
                  float *grad_k, float *grad_v, float scale, int T, int S, int causal) {
   constexpr int columns = Place<D>::columns;
   extern __shared__ __align__(16) float shared[];
   float *keys = shared, *values = keys + side * (D + 4), *queries = values + side * (D + 4), *grads = queries + side * (D + 4),
         *powers = grads + side * (D + 4), *factors = powers + side * pitch;
   const Place<D> place;
   const int first_key = blockIdx.x * side;
   const long long head = blockIdx.y, at_keys = (head * S + first_key) * D, at_queries = head * T * D;
   const float to_power = scale * log2_of_e;
   load_rows<D>(keys, k + at_keys, S - first_key);
   load_rows<D>(values, v + at_keys, S - first_key);
   const bool busy = first_key + place.first_row / 32 * 32 < S;
   float of_key[8][4] = {}, of_value[8][4] = {};

   for (int first_query = causal ? first_key : 0; first_query < T; first_query += side) {
      __syncthreads(); /* the tiles before are used up */
      load_rows<D>(queries, q + at_queries + (long long)first_query * D, T - first_query);
      load_rows<D>(grads, grad_y + at_queries + (long long)first_query * D, T - first_query);
      __syncthreads();
      if (busy) {
         float score[8][columns], dp[8][columns];
         dots<D>(score, keys, queries, place);
         dots<D>(dp, values, grads, place);
#pragma unroll
         for (int j = 0; j < columns; j++) {
            const int query = first_query + place.column(j);
            const float logarithm = query < T ? normaliser[head * T + query] : 0.0f, middle = query < T ? mean[head * T + query] : 0.0f;
#pragma unroll
            for (int i = 0; i < 8; i++) {
               const int key = first_key + place.row(i);
               const bool seen = key < S && query < T && (!causal || key <= query);
               const float power = seen ? exp2f(score[i][j] * to_power - logarithm) : 0.0f;
               powers[place.row(i) * pitch + place.column(j)] = power;
               factors[place.row(i) * pitch + place.column(j)] = power * (dp[i][j] - middle) * scale;
            }
         }
      }
      __syncthreads();
      if (busy) {
         add_rows<D>(of_value, powers, grads, place);
         add_rows<D>(of_key, factors, queries, place);
      }
   }
#pragma unroll
   for (int i = 0; i < 8; i++)
      if (first_key + place.row(i) < S) {
         const long long at = at_keys + (long long)place.row(i) * D + place.dim();
         *(float4 *)(grad_k + at) = make_float4(of_key[i][0], of_key[i][1], of_key[i][2], of_key[i][3]);
         *(float4 *)(grad_v + at) = make_float4(of_value[i][0], of_value[i][1], of_value[i][2], of_value[i][3]);
      }
}
