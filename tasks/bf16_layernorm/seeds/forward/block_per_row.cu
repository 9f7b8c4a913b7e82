/* rkb-kernel: 1
task: bf16_layernorm
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
launches:
  - kernel: layernorm<BLOCK, 2>
    when: D % 2 == 0
    grid: R
    block: BLOCK
    args: x, weight, bias, y, eps, D
  - else:
    kernel: layernorm<BLOCK, 1>
    grid: R
    block: BLOCK
    args: x, weight, bias, y, eps, D
*/

/* One block owns one row.  Numbers become fp32 where they are read and bfloat16 once, where the result is stored.  Two passes over
 * the row, which stays in the first-level cache: the mean, then the squared deviations from it. */

#include <cuda_bf16.h>

template <int count> struct alignas(2 * count) Pack {
   __nv_bfloat16 at[count];
};

/* Sum over the block, returned to every thread. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads(); /* slow threads may still read the sums of the call before */
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float sum = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      sum += of_warp[warp];
   return sum;
}

template <int block, int vec>
__global__ void layernorm(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias,
                          __nv_bfloat16 *y, float eps, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   const Pack<vec> *shift = reinterpret_cast<const Pack<vec> *>(bias);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.x * D);
   const int packs = D / vec;

   float sum = 0.0f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         sum += __bfloat162float(value.at[k]);
   }
   const float mean = block_sum<block>(sum) / D;

   float squares = 0.0f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++) {
         const float deviation = __bfloat162float(value.at[k]) - mean;
         squares += deviation * deviation;
      }
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);

   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i], factor = scale[i], offset = shift[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = __float2bfloat16((__bfloat162float(value.at[k]) - mean) * inverse * __bfloat162float(factor.at[k]) +
                                         __bfloat162float(offset.at[k]));
      out[i] = result;
   }
}
