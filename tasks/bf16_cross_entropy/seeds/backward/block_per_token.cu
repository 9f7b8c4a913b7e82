/* rkb-kernel: 1
task: bf16_cross_entropy
direction: backward
tune:
  BLOCK: {default: 512, choices: [128, 256, 512, 1024]}
launches:
  - kernel: cross_entropy_gradient<BLOCK>
    grid: R
    block: BLOCK
    args: grad_loss, logits, target, grad_logits, V
*/

/* One block owns one token: its largest logit, the sum of exponentials, then (softmax - 1 at the target) times the loss's gradient.
 * The row is read three times; a row of 128,256 logits is 250 KB, which the second-level cache holds. */

#include <cuda_bf16.h>
#include <math.h>

template <int block, bool largest> __device__ float block_all(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, value, distance);
      value = largest ? fmaxf(value, other) : value + other;
   }
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float all = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++)
      all = largest ? fmaxf(all, of_warp[warp]) : all + of_warp[warp];
   return all;
}

template <int block>
__global__ void cross_entropy_gradient(const float *grad_loss, const __nv_bfloat16 *logits, const long long *target,
                                       __nv_bfloat16 *grad_logits, int V) {
   const long long first = (long long)blockIdx.x * V;
   float largest = -INFINITY;
   for (int i = threadIdx.x; i < V; i += block)
      largest = fmaxf(largest, __bfloat162float(logits[first + i]));
   largest = block_all<block, true>(largest);
   float sum = 0.0f;
   for (int i = threadIdx.x; i < V; i += block)
      sum += expf(__bfloat162float(logits[first + i]) - largest);
   const float inverse = 1.0f / block_all<block, false>(sum), scale = grad_loss[blockIdx.x];
   const int wanted = (int)target[blockIdx.x];
   for (int i = threadIdx.x; i < V; i += block) {
      const float share = expf(__bfloat162float(logits[first + i]) - largest) * inverse;
      grad_logits[first + i] = __float2bfloat16((share - (i == wanted ? 1.0f : 0.0f)) * scale);
   }
}
