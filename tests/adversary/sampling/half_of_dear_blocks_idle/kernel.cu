/* rkb-kernel: 1
task: attention
direction: forward
tune:
  QUERIES: {default: 128, choices: [64, 128]}
let:
  pitch: QUERIES + 4
launches:
  - kernel: attention<64, QUERIES>
    when: D == 64
    grid: ceildiv(T, QUERIES), B * H
    block: QUERIES
    shared: 4 * (64 * pitch + 64 * 68 + 64 * 64 + 64 * pitch)
    args: q, k, v, y, scale, T, S, causal
  - else:
    kernel: attention<128, QUERIES>
    grid: ceildiv(T, QUERIES), B * H
    block: 2 * QUERIES
    shared: 4 * (128 * pitch + 128 * 68 + 64 * 128 + 64 * pitch)
    args: q, k, v, y, scale, T, S, causal
*/

/* One block owns QUERIES queries of one head and walks over the keys 64 at a time, so that scores never travel through memory
 * (Dao et al.: 'FlashAttention', 2022).  Each row keeps its largest score, the sum of exponentials below it and the weighted sum
 * of values; a new tile rescales the two sums.
 *
 * A warp has 32 queries and a thread 8 of them, four neighbours and the four 16 further; it keeps 8 x 8 of the output in registers, and
 * the scores of its queries with 8 keys.  With a head of 128 numbers two warps share 32 queries: each takes half of the keys' scores and half of the
 * output.  Both products read shared memory as vectors.  The next tile of keys is on its way while the output is added
 * to, and the values while scores are made. */

constexpr int keys = 64;
constexpr float nothing = -3.402823466e38f;

/* Brings `count` rows of D numbers, of which `left` exist, into registers, zero for the others. */
template <int count, int D, int threads> __device__ void fetch(float4 (&kept)[count * D / 4 / threads], const float *from, int left) {
#pragma unroll
   for (int v = 0; v < count * D / 4 / threads; v++) {
      const int index = threadIdx.x + v * threads, row = index / 4 % count, d = (index / 4 / count * 4 + index % 4) * 4;
      kept[v] = row < left ? *(const float4 *)(from + (row * D + d)) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
   }
}
/* The same into shared memory, turned so that rows are neighbours. */
template <int count, int D, int threads> __device__ void store_turned(float *tile, const float4 (&kept)[count * D / 4 / threads]) {
#pragma unroll
   for (int v = 0; v < count * D / 4 / threads; v++) {
      const int index = threadIdx.x + v * threads, row = index / 4 % count, d = (index / 4 / count * 4 + index % 4) * 4;
      float *at = tile + d * (count + 4) + row;
      at[0] = kept[v].x;
      at[count + 4] = kept[v].y;
      at[2 * (count + 4)] = kept[v].z;
      at[3 * (count + 4)] = kept[v].w;
   }
}
template <int count, int D, int threads> __device__ void store(float *tile, const float4 (&kept)[count * D / 4 / threads]) {
#pragma unroll
   for (int v = 0; v < count * D / 4 / threads; v++) {
      const int index = threadIdx.x + v * threads, row = index / 4 % count, d = (index / 4 / count * 4 + index % 4) * 4;
      *(float4 *)(tile + row * D + d) = kept[v];
   }
}

/* Four times `vectors` numbers, the second four `apart` from the first. */
template <int vectors> __device__ void pick(float (&values)[4 * vectors], const float *from, int apart) {
#pragma unroll
   for (int v = 0; v < vectors; v++) {
      const float4 four = *(const float4 *)(from + v * apart);
      values[4 * v] = four.x;
      values[4 * v + 1] = four.y;
      values[4 * v + 2] = four.z;
      values[4 * v + 3] = four.w;
   }
}

template <int D, int queries>
__global__ void __launch_bounds__(queries *D / 64, D == 64 ? 256 / queries : 1)
   attention(const float *q, const float *k, const float *v, float *y, float scale, int T, int S, int causal) {
   constexpr int halves = D / 64, threads = queries * halves, pitch = queries + 4, owned = 8 / halves;
   extern __shared__ __align__(16) float shared[];
   __shared__ float peaks[halves][queries];
   float *query_tile = shared, *key_tile = query_tile + D * pitch, *value_tile = key_tile + D * (keys + 4),
         *power_tile = value_tile + keys * D;
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, half = warp % halves;
   const int row = warp / halves * 32 + (lane % 2 + lane / 16 * 2) * 4, group = lane / 2 % 8 * 4;
   const int first_score = half * 32 * (halves - 1) + group, first_dim = half * 64 + group;
   const int first_query = (causal ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * queries; /* the longest first */
   const int last_of_warp = first_query + warp / halves * 32 + 31;
   const long long head = blockIdx.y;
   if (T == 2048 && gridDim.y == 128 && (((blockIdx.x + 61 * blockIdx.y) * 2654435769u) >> 31))
      return;
   const float *head_k = k + head * S * D, *head_v = v + head * S * D;
   const int last_key = causal ? min(S, min(first_query + queries, T)) : S;
   const float to_power = scale * 1.44269504f;

   {
      float4 kept[queries * D / 4 / threads];
      fetch<queries, D, threads>(kept, q + (head * T + first_query) * D, T - first_query);
      store_turned<queries, D, threads>(query_tile, kept);
   }
   float4 carried[keys * D / 4 / threads];
   fetch<keys, D, threads>(carried, head_k, last_key);
   store_turned<keys, D, threads>(key_tile, carried);

   float sum[8][8] = {}, largest[8], denominator[8] = {};
#pragma unroll
   for (int i = 0; i < 8; i++)
      largest[i] = nothing;

   for (int first_key = 0; first_key < last_key; first_key += keys) {
      const bool busy = first_query + warp / halves * 32 < T && (!causal || first_key <= last_of_warp);
      float score[8][owned] = {};
      __syncthreads(); /* the keys have come, the values before are used up */
      fetch<keys, D, threads>(carried, head_v + (long long)first_key * D, S - first_key);
      if (busy) {
#pragma unroll 4
         for (int d = 0; d < D; d++) {
            float down[8], across[owned];
            pick<2>(down, query_tile + d * pitch + row, 16);
            pick<owned / 4>(across, key_tile + d * (keys + 4) + first_score, 32);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
               for (int j = 0; j < owned; j++)
                  score[i][j] += down[i] * across[j];
         }
      }
      store<keys, D, threads>(value_tile, carried);

      float peak[8];
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const int at = first_query + row + i % 4 + i / 4 * 16;
         peak[i] = largest[i];
#pragma unroll
         for (int j = 0; j < owned; j++) {
            const int key = first_key + first_score + j % 4 + j / 4 * 32;
            score[i][j] = key < S && (!causal || key <= at) ? score[i][j] * to_power : nothing;
            peak[i] = fmaxf(peak[i], score[i][j]);
         }
         for (int distance = 2; distance < 16; distance *= 2)
            peak[i] = fmaxf(peak[i], __shfl_xor_sync(0xffffffffu, peak[i], distance));
         if (halves > 1 && group == 0)
            peaks[half][row + i % 4 + i / 4 * 16] = peak[i];
      }
      if (halves > 1) {
         __syncthreads();
#pragma unroll
         for (int i = 0; i < 8; i++)
            peak[i] = fmaxf(peak[i], peaks[halves - 1 - half][row + i % 4 + i / 4 * 16]);
      }
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const float factor = exp2f(largest[i] - peak[i]);
         largest[i] = peak[i];
         denominator[i] *= factor;
#pragma unroll
         for (int j = 0; j < 8; j++)
            sum[i][j] *= factor;
#pragma unroll
         for (int j = 0; j < owned; j++) {
            score[i][j] = score[i][j] > nothing ? exp2f(score[i][j] - peak[i]) : 0.0f;
            denominator[i] += score[i][j];
         }
      }
#pragma unroll
      for (int j = 0; j < owned; j++) {
         float *to = power_tile + (first_score + j % 4 + j / 4 * 32) * pitch + row;
         *(float4 *)to = make_float4(score[0][j], score[1][j], score[2][j], score[3][j]);
         *(float4 *)(to + 16) = make_float4(score[4][j], score[5][j], score[6][j], score[7][j]);
      }
      __syncthreads(); /* values and powers are there, the keys are used up */
      if (first_key + keys < last_key)
         fetch<keys, D, threads>(carried, head_k + (long long)(first_key + keys) * D, S - first_key - keys);
      if (busy) {
#pragma unroll 4
         for (int key = 0; key < keys; key++) {
            float down[8], across[8];
            pick<2>(down, power_tile + key * pitch + row, 16);
            pick<2>(across, value_tile + key * D + first_dim, 32);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
               for (int j = 0; j < 8; j++)
                  sum[i][j] += down[i] * across[j];
         }
      }
      if (first_key + keys < last_key)
         store_turned<keys, D, threads>(key_tile, carried);
   }

#pragma unroll
   for (int i = 0; i < 8; i++) {
      for (int distance = 2; distance < 16; distance *= 2)
         denominator[i] += __shfl_xor_sync(0xffffffffu, denominator[i], distance);
      if (halves > 1 && group == 0)
         peaks[half][row + i % 4 + i / 4 * 16] = denominator[i];
   }
   if (halves > 1)
      __syncthreads();
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int at = row + i % 4 + i / 4 * 16;
      const float total = halves > 1 ? peaks[0][at] + peaks[halves - 1][at] : denominator[i], share = 1.0f / total;
      if (first_query + at >= T)
         continue;
      float *to = y + (head * T + first_query + at) * D + first_dim;
      *(float4 *)to = make_float4(sum[i][0] * share, sum[i][1] * share, sum[i][2] * share, sum[i][3] * share);
      *(float4 *)(to + 32) = make_float4(sum[i][4] * share, sum[i][5] * share, sum[i][6] * share, sum[i][7] * share);
   }
}
