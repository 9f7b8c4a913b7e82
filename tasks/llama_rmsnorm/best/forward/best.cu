/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 512, choices: [64, 128, 256, 512, 1024]}
  VEC: {default: 2, choices: [1, 2, 4]}
let:
  rows: B * T
launches:
  - kernel: rmsnorm<BLOCK, VEC>
    when: D % VEC == 0
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm<BLOCK, 1>
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
*/

/* One block owns one row.  The first pass adds up squares, the second reads the row again, mostly from the caches,
 * and scales it.  Threads move `vec` neighbouring floats at a time where the row length allows it. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block, int vec>
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const Pack<vec> *row = reinterpret_cast<const Pack<vec> *>(x + (long long)blockIdx.x * D);
   const Pack<vec> *scale = reinterpret_cast<const Pack<vec> *>(weight);
   Pack<vec> *out = reinterpret_cast<Pack<vec> *>(y + (long long)blockIdx.x * D);
   const int packs = D / vec;

   float squares = 0.0f;
   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i];
      for (int k = 0; k < vec; k++)
         squares += value.at[k] * value.at[k];
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);

   for (int i = threadIdx.x; i < packs; i += block) {
      const Pack<vec> value = row[i], factor = scale[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++)
         result.at[k] = value.at[k] * inverse * factor.at[k];
      out[i] = result;
   }
}
