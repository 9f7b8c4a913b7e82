/* rkb-kernel: 1
task: softmax
direction: forward
tune:
  BLOCK: {default: 512, choices: [64, 128, 256, 512, 1024]}
  VEC: {default: 2, choices: [1, 2, 4]}
launches:
  - kernel: softmax<BLOCK, VEC>
    when: D % VEC == 0
    grid: N
    block: BLOCK
    args: x, y, D
  - else:
    kernel: softmax<BLOCK, 1>
    grid: N
    block: BLOCK
    args: x, y, D
*/

/* One block owns one row and reads it three times, the second and third time mostly from the caches: the largest value, the
 * sum of exponentials of what lies below it, the quotients.  Subtracting the largest value keeps every exponential in 0 to 1. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block> __device__ float block_max(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float largest = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++)
      largest = fmaxf(largest, of_warp[warp]);
   return largest;
}

template <int block, int vec> __global__ void softmax(const float *x, float *y, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * D);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.x * D);
   const int packs = D / vec;

   float largest = -3.402823466e38f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         largest = fmaxf(largest, value.at[k]);
   }
   largest = block_max<block>(largest);

   float sum = 0.0f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         sum += __expf(value.at[k] - largest);
   }
   const float inverse = 1.0f / block_sum<block>(sum);

   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = expf(value.at[k] - largest) * inverse;
      out[i] = result;
   }
}
