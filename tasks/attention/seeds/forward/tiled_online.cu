/* rkb-kernel: 1
task: attention
direction: forward
tune:
  QUERIES: {default: 32, choices: [8, 16, 32]}
  KEYS: {default: 32, choices: [16, 32]}
  THREADS: {default: 256, choices: [128, 256, 512]}
launches:
  - kernel: attention<64, QUERIES, KEYS, THREADS>
    when: D == 64
    grid: ceildiv(T, QUERIES), B * H
    block: THREADS
    args: q, k, v, y, scale, T, S, causal
  - else:
    kernel: attention<128, QUERIES, KEYS, THREADS>
    grid: ceildiv(T, QUERIES), B * H
    block: THREADS
    args: q, k, v, y, scale, T, S, causal
*/

/* One block owns QUERIES queries of one head and walks over the keys in tiles of KEYS, so that scores never travel through memory
 * (Dao et al.: 'FlashAttention', 2022).  Each row keeps its largest score, the sum of exponentials below it and the weighted sum
 * of values; a new tile rescales the two sums.  Keys and values take turns in the same shared tile. */

template <int D, int count, int threads>
__device__ void load_rows(float (&tile)[count][D + 1], const float *from, int first, int last) {
   for (int i = threadIdx.x; i < count * D; i += threads)
      tile[i / D][i % D] = first + i / D < last ? from[(long long)(first + i / D) * D + i % D] : 0.0f;
}

template <int D, int queries, int keys, int threads>
__global__ void __launch_bounds__(threads)
   attention(const float *q, const float *k, const float *v, float *y, float scale, int T, int S, int causal) {
   __shared__ float query[queries][D + 1], tile[keys][D + 1], score[queries][keys + 1], rescale[queries], total[queries];
   constexpr int warps = threads / 32, rows_apart = threads / D, owned = (queries + rows_apart - 1) / rows_apart;
   constexpr int rows_of_warp = (queries + warps - 1) / warps;
   const int first_query = blockIdx.x * queries, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   const long long head = blockIdx.y;
   const float *head_k = k + head * S * D, *head_v = v + head * S * D;
   const int last_key = causal ? min(S, first_query + queries) : S;

   load_rows<D, queries, threads>(query, q + head * T * D, first_query, T);
   float sum[owned] = {}; /* of row threadIdx.x / D + i * rows_apart, dim threadIdx.x % D */
   float largest[rows_of_warp], denominator[rows_of_warp];
#pragma unroll
   for (int i = 0; i < rows_of_warp; i++) {
      largest[i] = -3.402823466e38f;
      denominator[i] = 0.0f;
   }

   for (int first_key = 0; first_key < last_key; first_key += keys) {
      __syncthreads(); /* the tile before is used up */
      load_rows<D, keys, threads>(tile, head_k, first_key, S);
      __syncthreads();
      for (int i = threadIdx.x; i < queries * keys; i += threads) {
         const int row = i / keys, column = i % keys;
         float dot = 0.0f;
         for (int d = 0; d < D; d++)
            dot += query[row][d] * tile[column][d];
         const bool seen = first_key + column < S && (!causal || first_key + column <= first_query + row);
         score[row][column] = seen ? dot * scale : -3.402823466e38f;
      }
      __syncthreads();
      load_rows<D, keys, threads>(tile, head_v, first_key, S);
#pragma unroll
      for (int i = 0; i < rows_of_warp; i++) {
         const int row = warp + i * warps;
         if (row >= queries)
            break; /* the same for a whole warp */
         const float mine = lane < keys ? score[row][lane] : -3.402823466e38f;
         float peak = mine;
         for (int distance = 16; distance > 0; distance /= 2)
            peak = fmaxf(peak, __shfl_xor_sync(0xffffffffu, peak, distance));
         peak = fmaxf(peak, largest[i]);
         const float power = mine > -3.402823466e38f ? expf(mine - peak) : 0.0f;
         float powers = power;
         for (int distance = 16; distance > 0; distance /= 2)
            powers += __shfl_xor_sync(0xffffffffu, powers, distance);
         const float factor = expf(largest[i] - peak);
         denominator[i] = denominator[i] * factor + powers;
         largest[i] = peak;
         if (lane < keys)
            score[row][lane] = power;
         if (lane == 0)
            rescale[row] = factor;
      }
      __syncthreads();
#pragma unroll
      for (int i = 0; i < owned; i++) {
         const int row = threadIdx.x / D + i * rows_apart;
         if (row >= queries)
            break;
         float value = sum[i] * rescale[row];
         for (int column = 0; column < keys; column++)
            value += score[row][column] * tile[column][threadIdx.x % D];
         sum[i] = value;
      }
   }

#pragma unroll
   for (int i = 0; i < rows_of_warp; i++)
      if (lane == 0 && warp + i * warps < queries)
         total[warp + i * warps] = denominator[i];
   __syncthreads();
#pragma unroll
   for (int i = 0; i < owned; i++) {
      const int row = threadIdx.x / D + i * rows_apart;
      if (row < queries && first_query + row < T)
         y[(head * T + first_query + row) * D + threadIdx.x % D] = sum[i] / total[row];
   }
}
