/* rkb-kernel: 1
task: bf16_attention
direction: backward
tune:
  THREADS: {default: 256, choices: [128, 256]}
scratch:
  normaliser: {dtype: float32, shape: "B, H, T"}
  mean: {dtype: float32, shape: "B, H, T"}
launches:
  - kernel: row_numbers<64, THREADS>
    when: D == 64
    grid: ceildiv(T, 16), H, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, scale, K, T, window
  - else:
    kernel: row_numbers<128, THREADS>
    grid: ceildiv(T, 16), H, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, scale, K, T, window
  - kernel: grad_query<64, THREADS>
    when: D == 64
    grid: ceildiv(T, 16), H, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, K, T, window
  - else:
    kernel: grad_query<128, THREADS>
    grid: ceildiv(T, 16), H, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_q, scale, K, T, window
  - kernel: grad_key_value<64, THREADS>
    when: D == 64
    grid: ceildiv(T, 16), K, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, H, T, window
  - else:
    kernel: grad_key_value<128, THREADS>
    grid: ceildiv(T, 16), K, B
    block: THREADS
    args: grad_y, q, k, v, normaliser, mean, grad_k, grad_v, scale, H, T, window
*/

/* With p = softmax(scale q k') over the keys that a query sees and dp = grad_y v':  grad_v = p' grad_y,
 * ds = p (dp - sum over keys of p dp) scale,  grad_q = ds k,  grad_k = ds' q.  The first launch finds each query's log of the sum of exponentials
 * and its mean of dp under p, so that the others can make p and ds again tile by tile (Dao et al., 2022).  Then one block a tile of queries
 * sums over keys, and one block a tile of keys sums over the queries of all heads that share them: every sum has one owner.  All arithmetic is
 * fp32. */

#include <cuda_bf16.h>
#include <math.h>

constexpr int tile = 16;

template <int D, int threads>
__device__ void load_rows(float (&rows)[tile][D + 1], const __nv_bfloat16 *from, int first, int last) {
   for (int i = threadIdx.x; i < tile * D; i += threads)
      rows[i / D][i % D] = first + i / D < last ? __bfloat162float(from[(long long)(first + i / D) * D + i % D]) : 0.0f;
}

template <int D> __device__ float dot(const float (&a)[tile][D + 1], int row, const float (&b)[tile][D + 1], int column) {
   float sum = 0.0f;
   for (int d = 0; d < D; d++)
      sum += a[row][d] * b[column][d];
   return sum;
}

/* The first key that some query of a tile sees, rounded down to a tile. */
__device__ int first_seen(int first_query, int window) {
   const int first = first_query - window + 1;
   return first > 0 ? first / tile * tile : 0;
}

__device__ bool seen(int query, int key, int T, int window) {
   return query < T && key <= query && query - key < window;
}

template <int D, int threads>
__global__ void __launch_bounds__(threads)
   row_numbers(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, float *normaliser,
               float *mean, float scale, int K, int T, int window) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1];
   __shared__ float score[tile][tile + 1], product[tile][tile + 1];
   const int first_query = blockIdx.x * tile, last_key = min(T, first_query + tile);
   const long long head = (long long)blockIdx.z * gridDim.y + blockIdx.y;
   const long long key_head = (long long)blockIdx.z * K + blockIdx.y / (gridDim.y / K);
   load_rows<D, threads>(query, q + head * T * D, first_query, T);
   load_rows<D, threads>(grad, grad_y + head * T * D, first_query, T);

   /* Threads 0 to tile - 1 own a query each. */
   float largest = -INFINITY, sum = 0.0f, weighted = 0.0f;
   for (int first_key = first_seen(first_query, window); first_key < last_key; first_key += tile) {
      __syncthreads();
      load_rows<D, threads>(key, k + key_head * T * D, first_key, T);
      load_rows<D, threads>(value, v + key_head * T * D, first_key, T);
      __syncthreads();
      for (int i = threadIdx.x; i < tile * tile; i += threads) {
         score[i / tile][i % tile] = dot<D>(query, i / tile, key, i % tile) * scale;
         product[i / tile][i % tile] = dot<D>(grad, i / tile, value, i % tile);
      }
      __syncthreads();
      if (threadIdx.x < tile) {
         for (int column = 0; column < tile; column++) {
            if (!seen(first_query + threadIdx.x, first_key + column, T, window))
               continue;
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

template <int D, int threads>
__global__ void __launch_bounds__(threads)
   grad_query(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
              const float *normaliser, const float *mean, __nv_bfloat16 *grad_q, float scale, int K, int T, int window) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1], slope[tile][tile + 1];
   constexpr int apart = threads / D, owned = tile / apart;
   const int first_query = blockIdx.x * tile, last_key = min(T, first_query + tile), mine = threadIdx.x % D;
   const long long head = (long long)blockIdx.z * gridDim.y + blockIdx.y;
   const long long key_head = (long long)blockIdx.z * K + blockIdx.y / (gridDim.y / K);
   load_rows<D, threads>(query, q + head * T * D, first_query, T);
   load_rows<D, threads>(grad, grad_y + head * T * D, first_query, T);

   float sum[owned] = {}; /* of query threadIdx.x / D + i * apart, dim `mine` */
   for (int first_key = first_seen(first_query, window); first_key < last_key; first_key += tile) {
      __syncthreads();
      load_rows<D, threads>(key, k + key_head * T * D, first_key, T);
      load_rows<D, threads>(value, v + key_head * T * D, first_key, T);
      __syncthreads();
      for (int i = threadIdx.x; i < tile * tile; i += threads) {
         const int row = i / tile, column = i % tile, t = first_query + row;
         float result = 0.0f;
         if (seen(t, first_key + column, T, window)) {
            const float p = expf(dot<D>(query, row, key, column) * scale - normaliser[head * T + t]);
            result = p * (dot<D>(grad, row, value, column) - mean[head * T + t]) * scale;
         }
         slope[row][column] = result;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < owned; i++)
         for (int column = 0; column < tile; column++)
            sum[i] += slope[threadIdx.x / D + i * apart][column] * key[column][mine];
   }
#pragma unroll
   for (int i = 0; i < owned; i++) {
      const int row = first_query + threadIdx.x / D + i * apart;
      if (row < T)
         grad_q[(head * T + row) * D + mine] = __float2bfloat16(sum[i]);
   }
}

template <int D, int threads>
__global__ void __launch_bounds__(threads)
   grad_key_value(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v,
                  const float *normaliser, const float *mean, __nv_bfloat16 *grad_k, __nv_bfloat16 *grad_v, float scale, int H, int T,
                  int window) {
   __shared__ float query[tile][D + 1], grad[tile][D + 1], key[tile][D + 1], value[tile][D + 1];
   __shared__ float share[tile][tile + 1], slope[tile][tile + 1];
   constexpr int apart = threads / D, owned = tile / apart;
   const int first_key = blockIdx.x * tile, mine = threadIdx.x % D, together = H / gridDim.y;
   const int last_query = T - first_key > window + tile - 1 ? first_key + tile + window - 1 : T;
   const long long key_head = (long long)blockIdx.z * gridDim.y + blockIdx.y;
   load_rows<D, threads>(key, k + key_head * T * D, first_key, T);
   load_rows<D, threads>(value, v + key_head * T * D, first_key, T);

   float key_sum[owned] = {}, value_sum[owned] = {}; /* of key threadIdx.x / D + i * apart, dim `mine` */
   for (int other = 0; other < together; other++) {
      const long long head = key_head * together + other;
      for (int first_query = first_key; first_query < last_query; first_query += tile) {
         __syncthreads();
         load_rows<D, threads>(query, q + head * T * D, first_query, T);
         load_rows<D, threads>(grad, grad_y + head * T * D, first_query, T);
         __syncthreads();
         for (int i = threadIdx.x; i < tile * tile; i += threads) {
            const int row = i / tile, column = i % tile, t = first_query + row;
            float p = 0.0f, result = 0.0f;
            if (seen(t, first_key + column, T, window)) {
               p = expf(dot<D>(query, row, key, column) * scale - normaliser[head * T + t]);
               result = p * (dot<D>(grad, row, value, column) - mean[head * T + t]) * scale;
            }
            share[row][column] = p;
            slope[row][column] = result;
         }
         __syncthreads();
#pragma unroll
         for (int i = 0; i < owned; i++) {
            const int column = threadIdx.x / D + i * apart;
            for (int row = 0; row < tile; row++) {
               key_sum[i] += slope[row][column] * query[row][mine];
               value_sum[i] += share[row][column] * grad[row][mine];
            }
         }
      }
   }
#pragma unroll
   for (int i = 0; i < owned; i++) {
      const int column = first_key + threadIdx.x / D + i * apart;
      if (column < T) {
         grad_k[(key_head * T + column) * D + mine] = __float2bfloat16(key_sum[i]);
         grad_v[(key_head * T + column) * D + mine] = __float2bfloat16(value_sum[i]);
      }
   }
}
