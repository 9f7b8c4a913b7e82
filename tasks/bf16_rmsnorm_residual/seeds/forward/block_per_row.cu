/* rkb-kernel: 1
task: bf16_rmsnorm_residual
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
launches:
  - kernel: add_norm<BLOCK, 2>
    when: D % 2 == 0
    grid: R
    block: BLOCK
    args: x, residual, weight, sum, y, eps, D
  - else:
    kernel: add_norm<BLOCK, 1>
    grid: R
    block: BLOCK
    args: x, residual, weight, sum, y, eps, D
*/

/* One block owns one row.  The norm is that of the sum as it was stored, and the normalised row is rounded to bfloat16 before the
 * weight multiplies it, as in the reference.  The second pass reads the sum that the same thread wrote. */

#include <cuda_bf16.h>

template <int count> struct alignas(2 * count) Pack {
   __nv_bfloat16 at[count];
};

template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float sum = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      sum += of_warp[warp];
   return sum;
}

template <int block, int vec>
__global__ void add_norm(const __nv_bfloat16 *x, const __nv_bfloat16 *residual, const __nv_bfloat16 *weight,
                         __nv_bfloat16 *sum, __nv_bfloat16 *y, float eps, int D) {
   const long long first = (long long)blockIdx.x * D;
   const Pack<vec> *left = reinterpret_cast<const Pack<vec> *>(x + first);
   const Pack<vec> *right = reinterpret_cast<const Pack<vec> *>(residual + first);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   Pack<vec> *total = reinterpret_cast<Pack<vec> *>(sum + first), *out = reinterpret_cast<Pack<vec> *>(y + first);

   float squares = 0.0f;
   for (int i = threadIdx.x; i < D / vec; i += block) {
      const Pack<vec> a = left[i], b = right[i];
      Pack<vec> both;
      for (int k = 0; k < vec; k++) {
         both.at[k] = __float2bfloat16(__bfloat162float(a.at[k]) + __bfloat162float(b.at[k]));
         squares += __bfloat162float(both.at[k]) * __bfloat162float(both.at[k]);
      }
      total[i] = both;
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);

   for (int i = threadIdx.x; i < D / vec; i += block) {
      const Pack<vec> both = total[i], factor = scale[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++) {
         const __nv_bfloat16 norm = __float2bfloat16(__bfloat162float(both.at[k]) * inverse);
         result.at[k] = __float2bfloat16(__bfloat162float(factor.at[k]) * __bfloat162float(norm));
      }
      out[i] = result;
   }
}
