/* rkb-kernel: 1
task: bf16_attention
direction: forward
tune:
  BLOCK: {default: 64, choices: [64, 128, 256]}
  KEYS: {default: 16, choices: [16, 32, 64]}
launches:
  - kernel: attention<BLOCK, KEYS, 64>
    when: D == 64
    grid: ceildiv(T, BLOCK / 2), H, B
    block: BLOCK
    args: q, k, v, y, H, K, T, window, scale
  - else:
    kernel: attention<BLOCK, KEYS, 128>
    grid: ceildiv(T, BLOCK / 2), H, B
    block: BLOCK
    args: q, k, v, y, H, K, T, window, scale
*/

/* Two neighbouring threads own a query, half of the head dim each.  Tiles of keys and values pass through shared memory, where all
 * threads of a warp read the same key.  The softmax is computed on the way (Milakov and Gimelshein, 2018; Dao et al., 2022): the
 * largest score so far, the sum of exponentials and the mixed values relative to it.  All arithmetic is fp32. */

#include <cuda_bf16.h>
#include <math.h>

template <int block, int tile, int width>
__global__ void __launch_bounds__(block)
   attention(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, __nv_bfloat16 *y, int H, int K, int T,
             int window, float scale) {
   constexpr int half = width / 2, queries = block / 2;
   __shared__ __nv_bfloat16 keys[tile][width], values[tile][width];
   const int first_query = blockIdx.x * queries, query = first_query + threadIdx.x / 2, part = threadIdx.x % 2 * half;
   const int key_head = blockIdx.y / (H / K);
   const long long own = (((long long)blockIdx.z * H + blockIdx.y) * T + query) * width + part;
   const long long shared_head = ((long long)blockIdx.z * K + key_head) * T * width;

   float wanted[half], mixed[half], largest = -INFINITY, sum = 0.0f;
   for (int d = 0; d < half; d++) {
      wanted[d] = query < T ? __bfloat162float(q[own + d]) * scale : 0.0f;
      mixed[d] = 0.0f;
   }

   const int last_query = first_query + queries < T ? first_query + queries : T;
   int first_key = first_query - window + 1;
   first_key = first_key < 0 ? 0 : first_key / tile * tile;
   for (int base = first_key; base < last_query; base += tile) {
      __syncthreads();
      for (int i = threadIdx.x; i < tile * width; i += block) {
         const bool inside = base + i / width < T;
         const long long at = shared_head + (long long)base * width + i;
         keys[i / width][i % width] = inside ? k[at] : __float2bfloat16(0.0f);
         values[i / width][i % width] = inside ? v[at] : __float2bfloat16(0.0f);
      }
      __syncthreads();
      for (int j = 0; j < tile; j++) {
         float score = 0.0f;
         for (int d = 0; d < half; d++)
            score += wanted[d] * __bfloat162float(keys[j][part + d]);
         score += __shfl_xor_sync(0xffffffffu, score, 1);
         const int key = base + j;
         if (key > query || key <= query - window)
            continue;
         const float now = fmaxf(largest, score), keep = expf(largest - now), weight = expf(score - now);
         largest = now;
         sum = sum * keep + weight;
         for (int d = 0; d < half; d++)
            mixed[d] = mixed[d] * keep + weight * __bfloat162float(values[j][part + d]);
      }
   }

   if (query < T)
      for (int d = 0; d < half; d++)
         y[own + d] = __float2bfloat16(mixed[d] / sum);
}
