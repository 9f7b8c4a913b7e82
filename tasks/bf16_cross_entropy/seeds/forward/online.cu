/* rkb-kernel: 1
task: bf16_cross_entropy
direction: forward
tune:
  BLOCK: {default: 512, choices: [128, 256, 512, 1024]}
launches:
  - kernel: cross_entropy<BLOCK, 2>
    when: V % 2 == 0
    grid: R
    block: BLOCK
    args: logits, target, loss, V
  - else:
    kernel: cross_entropy<BLOCK, 1>
    grid: R
    block: BLOCK
    args: logits, target, loss, V
*/

/* One block owns one token and reads its logits once: each thread keeps the largest logit so far and the sum of exponentials
 * relative to it (Milakov and Gimelshein, 'Online normalizer calculation for softmax', 2018); pairs of such sums are merged. */

#include <cuda_bf16.h>
#include <math.h>

template <int count> struct alignas(2 * count) Pack {
   __nv_bfloat16 at[count];
};

/* The sum of exp(x - largest) over a part of the row. */
struct Part {
   float largest, sum;
};

__device__ Part merge(Part a, Part b) {
   const float largest = fmaxf(a.largest, b.largest);
   if (largest == -INFINITY)
      return a;
   return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

template <int block> __device__ Part block_merge(Part part) {
   __shared__ Part of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      Part other;
      other.largest = __shfl_xor_sync(0xffffffffu, part.largest, distance);
      other.sum = __shfl_xor_sync(0xffffffffu, part.sum, distance);
      part = merge(part, other);
   }
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = part;
   __syncthreads();
   Part total = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++)
      total = merge(total, of_warp[warp]);
   return total;
}

template <int block, int vec>
__global__ void cross_entropy(const __nv_bfloat16 *logits, const long long *target, float *loss, int V) {
   const __nv_bfloat16 *row = logits + (long long)blockIdx.x * V;
   Part part = {-INFINITY, 0.0f};
   for (int i = threadIdx.x; i < V / vec; i += block) {
      const Pack<vec> value = reinterpret_cast<const Pack<vec> *>(row)[i];
      for (int k = 0; k < vec; k++) {
         const float x = __bfloat162float(value.at[k]), largest = fmaxf(part.largest, x);
         part.sum = part.sum * expf(part.largest - largest) + expf(x - largest);
         part.largest = largest;
      }
   }
   part = block_merge<block>(part);
   if (threadIdx.x == 0)
      loss[blockIdx.x] = part.largest - __bfloat162float(row[target[blockIdx.x]]) + logf(part.sum);
}
