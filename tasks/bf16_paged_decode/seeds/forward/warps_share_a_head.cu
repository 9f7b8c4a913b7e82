/* rkb-kernel: 1
task: bf16_paged_decode
direction: forward
tune:
  WARPS: {default: 4, choices: [2, 4, 8, 16]}
launches:
  - kernel: decode<WARPS, 64>
    when: D == 64
    grid: B, H
    block: WARPS * 32
    args: q, k_cache, v_cache, pages, lengths, y, H, K, G, P, scale
  - else:
    kernel: decode<WARPS, 128>
    grid: B, H
    block: WARPS * 32
    args: q, k_cache, v_cache, pages, lengths, y, H, K, G, P, scale
*/

/* A block owns one head of one sequence.  Its warps take the tokens in turns and keep a softmax of their own on the way; at the end
 * the warps' results are brought to one largest score and added.  All arithmetic is fp32. */

#include <cuda_bf16.h>
#include <math.h>

template <int warps, int width>
__global__ void decode(const __nv_bfloat16 *q, const __nv_bfloat16 *k_cache, const __nv_bfloat16 *v_cache, const int *pages,
                       const int *lengths, __nv_bfloat16 *y, int H, int K, int G, int P, float scale) {
   constexpr int each = width / 32;
   __shared__ float of_warp[warps][width], largest_of_warp[warps], sum_of_warp[warps];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, key_head = blockIdx.y / (H / K), length = lengths[blockIdx.x];
   const long long own = ((long long)blockIdx.x * H + blockIdx.y) * width;
   float wanted[each], mixed[each], largest = -INFINITY, sum = 0.0f;
   for (int d = 0; d < each; d++) {
      wanted[d] = __bfloat162float(q[own + lane + 32 * d]) * scale;
      mixed[d] = 0.0f;
   }

   for (int token = warp; token < length; token += warps) {
      const long long page = pages[(long long)blockIdx.x * P + token / G];
      const long long at = ((page * G + token % G) * K + key_head) * width + lane;
      float score = 0.0f;
      for (int d = 0; d < each; d++)
         score += wanted[d] * __bfloat162float(k_cache[at + 32 * d]);
      for (int distance = 16; distance > 0; distance /= 2)
         score += __shfl_xor_sync(0xffffffffu, score, distance);
      const float now = fmaxf(largest, score), keep = expf(largest - now), weight = expf(score - now);
      largest = now;
      sum = sum * keep + weight;
      for (int d = 0; d < each; d++)
         mixed[d] = mixed[d] * keep + weight * __bfloat162float(v_cache[at + 32 * d]);
   }

   for (int d = 0; d < each; d++)
      of_warp[warp][lane + 32 * d] = mixed[d];
   if (lane == 0) {
      largest_of_warp[warp] = largest;
      sum_of_warp[warp] = sum;
   }
   __syncthreads();
   float most = largest_of_warp[0], total = 0.0f;
   for (int w = 1; w < warps; w++)
      most = fmaxf(most, largest_of_warp[w]);
   for (int w = 0; w < warps; w++)
      total += sum_of_warp[w] * expf(largest_of_warp[w] - most);
   for (int d = threadIdx.x; d < width; d += warps * 32) {
      float value = 0.0f;
      for (int w = 0; w < warps; w++)
         value += of_warp[w][d] * expf(largest_of_warp[w] - most);
      y[own + d] = __float2bfloat16(value / total);
   }
}
