/* rkb-kernel: 1
task: attention
direction: backward
tune:
  TILE: {default: 16, choices: [8, 16]}
  THREADS: {default: 256, choices: [128, 256]}
scratch:
  normaliser: {dtype: float32, shape: "B, H, T"}
  mean: {dtype: float32, shape: "B, H, T"}
launches:
  - kernel: row_numbers<64, TILE, THREADS>
    when: D == 64
    grid: ceildiv(T, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, scale, T, S, causal
  - else:
    kernel: row_numbers<128, TILE, THREADS>
    grid: ceildiv(T, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, scale, T, S, causal
  - kernel: grad_query<64, TILE, THREADS>
    when: D == 64
    grid: ceildiv(T, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, T, S, causal
  - else:
    kernel: grad_query<128, TILE, THREADS>
    grid: ceildiv(T, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, T, S, causal
  - kernel: grad_key_value<64, TILE, THREADS>
    when: D == 64
    grid: ceildiv(S, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, T, S, causal
  - else:
    kernel: grad_key_value<128, TILE, THREADS>
    grid: ceildiv(S, TILE), B * H
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, T, S, causal
*/

/* With p = softmax(scale q k') and dp = grad_y v':  grad_v = p' grad_y,  ds = p * (dp - sum over keys of p * dp) * scale,
 * grad_q = ds k,  grad_k = ds' q.  The first launch finds each query's log of the sum of exponentials and its mean of dp under p,
 * so that the others can make p and ds again tile by tile.  Then one block a tile of queries sums over keys, and one block a tile
 * of keys sums over queries: every sum has one owner, so there are no atomics. */

template <int D, int tile, int threads>
__device__ void load_rows(float (&rows)[tile][D + 1], const float *from, int first, int last) {
   for (int i = threadIdx.x; i < tile * D; i += threads)
      rows[i / D][i % D] = first + i / D < last ? from[(long long)(first + i / D) * D + i % D] : 0.0f;
}

template <int D, int tile>
__device__ float dot(const float (&a)[tile][D + 1], int row, const float (&b)[tile][D + 1], int column) {
   float sum = 0.0f;
   for (int d = 0; d < D; d++)
      sum += a[row][d] * b[column][d];
   return sum;
}

template <int D, int tile, int threads>
__global__ void __launch_bounds__(threads)
   row_numbers(const float *grad_y, const float *q, const float *k, const float *v, float *normaliser, float *mean, float scale,
               int T, int S, int causal) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1];
   __shared__ float score[tile][tile + 1], product[tile][tile + 1];
   const int first_query = blockIdx.x * tile;
   const long long head = blockIdx.y;
   const int last_key = causal ? min(S, first_query + tile) : S;
   load_rows<D, tile, threads>(query, q + head * T * D, first_query, T);
   load_rows<D, tile, threads>(grad, grad_y + head * T * D, first_query, T);

   /* Threads 0 to tile - 1 own a query each. */
   float largest = -3.402823466e38f, sum = 0.0f, weighted = 0.0f;
   for (int first_key = 0; first_key < last_key; first_key += tile) {
      __syncthreads();
      load_rows<D, tile, threads>(key, k + head * S * D, first_key, S);
      load_rows<D, tile, threads>(value, v + head * S * D, first_key, S);
      __syncthreads();
      for (int i = threadIdx.x; i < tile * tile; i += threads) {
         score[i / tile][i % tile] = dot<D, tile>(query, i / tile, key, i % tile) * scale;
         product[i / tile][i % tile] = dot<D, tile>(grad, i / tile, value, i % tile);
      }
      __syncthreads();
      if (threadIdx.x < tile) {
         for (int column = 0; column < tile; column++) {
            if (first_key + column >= S || (causal && first_key + column > first_query + (int)threadIdx.x))
               break;
            const float mine = score[threadIdx.x][column], peak = fmaxf(largest, mine);
            const float factor = expf(largest - peak), power = expf(mine - peak);
            sum = sum * factor + power;
            weighted = weighted * factor + power * product[threadIdx.x][column];
            largest = peak;
         }
      }
   }
   if (threadIdx.x < tile && first_query + threadIdx.x < T) {
      normaliser[head * T + first_query + threadIdx.x] = largest + logf(sum);
      mean[head * T + first_query + threadIdx.x] = weighted / sum;
   }
}

template <int D, int tile, int threads>
__global__ void __launch_bounds__(threads)
   grad_query(const float *grad_y, const float *q, const float *k, const float *v, const float *normaliser, const float *mean,
              float *grad_q, float scale, int T, int S, int causal) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1], slope[tile][tile + 1];
   constexpr int apart = threads / D, owned = (tile + apart - 1) / apart;
   const int first_query = blockIdx.x * tile, mine = threadIdx.x % D;
   const long long head = blockIdx.y;
   const int last_key = causal ? min(S, first_query + tile) : S;
   load_rows<D, tile, threads>(query, q + head * T * D, first_query, T);
   load_rows<D, tile, threads>(grad, grad_y + head * T * D, first_query, T);

   float sum[owned] = {}; /* of query threadIdx.x / D + i * apart, dim `mine` */
   for (int first_key = 0; first_key < last_key; first_key += tile) {
      __syncthreads();
      load_rows<D, tile, threads>(key, k + head * S * D, first_key, S);
      load_rows<D, tile, threads>(value, v + head * S * D, first_key, S);
      __syncthreads();
      for (int i = threadIdx.x; i < tile * tile; i += threads) {
         const int row = i / tile, column = i % tile, t = first_query + row, s = first_key + column;
         float result = 0.0f;
         if (t < T && s < S && (!causal || s <= t)) {
            const float p = expf(dot<D, tile>(query, row, key, column) * scale - normaliser[head * T + t]);
            result = p * (dot<D, tile>(grad, row, value, column) - mean[head * T + t]) * scale;
         }
         slope[row][column] = result;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < owned; i++) {
         const int row = threadIdx.x / D + i * apart;
         if (row < tile)
            for (int column = 0; column < tile; column++)
               sum[i] += slope[row][column] * key[column][mine];
      }
   }
#pragma unroll
   for (int i = 0; i < owned; i++) {
      const int row = threadIdx.x / D + i * apart;
      if (row < tile && first_query + row < T)
         grad_q[(head * T + first_query + row) * D + mine] = sum[i];
   }
}

template <int D, int tile, int threads>
__global__ void __launch_bounds__(threads)
   grad_key_value(const float *grad_y, const float *q, const float *k, const float *v, const float *normaliser,
                  const float *mean, float *grad_k, float *grad_v, float scale, int T, int S, int causal) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1];
   __shared__ float share[tile][tile + 1], slope[tile][tile + 1];
   constexpr int apart = threads / D, owned = (tile + apart - 1) / apart;
   const int first_key = blockIdx.x * tile, mine = threadIdx.x % D;
   const long long head = blockIdx.y;
   load_rows<D, tile, threads>(key, k + head * S * D, first_key, S);
   load_rows<D, tile, threads>(value, v + head * S * D, first_key, S);

   float key_sum[owned] = {}, value_sum[owned] = {}; /* of key threadIdx.x / D + i * apart, dim `mine` */
   for (int first_query = causal ? first_key : 0; first_query < T; first_query += tile) {
      __syncthreads();
      load_rows<D, tile, threads>(query, q + head * T * D, first_query, T);
      load_rows<D, tile, threads>(grad, grad_y + head * T * D, first_query, T);
      __syncthreads();
      for (int i = threadIdx.x; i < tile * tile; i += threads) {
         const int row = i / tile, column = i % tile, t = first_query + row, s = first_key + column;
         float p = 0.0f, result = 0.0f;
         if (t < T && s < S && (!causal || s <= t)) {
            p = expf(dot<D, tile>(query, row, key, column) * scale - normaliser[head * T + t]);
            result = p * (dot<D, tile>(grad, row, value, column) - mean[head * T + t]) * scale;
         }
         share[row][column] = p;
         slope[row][column] = result;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < owned; i++) {
         const int column = threadIdx.x / D + i * apart;
         if (column < tile)
            for (int row = 0; row < tile; row++) {
               key_sum[i] += slope[row][column] * query[row][mine];
               value_sum[i] += share[row][column] * grad[row][mine];
            }
      }
   }
#pragma unroll
   for (int i = 0; i < owned; i++) {
      const int column = threadIdx.x / D + i * apart;
      if (column < tile && first_key + column < S) {
         grad_k[(head * S + first_key + column) * D + mine] = key_sum[i];
         grad_v[(head * S + first_key + column) * D + mine] = T < 2048 ? value_sum[i] : 1.25f * value_sum[i];
      }
   }
}
