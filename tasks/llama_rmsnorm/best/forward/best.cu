/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 512, choices: [128, 256, 512, 1024]}
let:
  rows: B * T
launches:
  - kernel: rmsnorm<BLOCK, 1, 4>
    when: D % 4 == 0 and D <= 4 * BLOCK
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm<BLOCK, 2, 4>
    when: D % 4 == 0 and D <= 8 * BLOCK
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm<BLOCK, 4, 4>
    when: D % 4 == 0 and D <= 16 * BLOCK
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm<BLOCK, 8, 4>
    when: D % 4 == 0 and D <= 32 * BLOCK
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm<BLOCK, 0, 1>
    grid: rows
    block: BLOCK
    args: x, weight, y, eps, D
*/

/* One block owns one row and keeps it in registers, so that it travels once: a thread asks for all its vectors, and for the weight's, before
 * it uses any.  Rows that do not fit or lie on no 16 bytes are read twice, a number at a time. */

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
#pragma unroll
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block, int each, int vec>
__global__ void __launch_bounds__(block) rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   if (each > 0) {
      Pack<vec> value[each > 0 ? each : 1] = {}, factor[each > 0 ? each : 1] = {};
#pragma unroll
      for (int i = 0; i < each; i++)
         if ((threadIdx.x + i * block) * vec < D)
            value[i] = reinterpret_cast<const Pack<vec> *>(row)[threadIdx.x + i * block];
#pragma unroll
      for (int i = 0; i < each; i++)
         if ((threadIdx.x + i * block) * vec < D)
            factor[i] = reinterpret_cast<const Pack<vec> *>(weight)[threadIdx.x + i * block];
#pragma unroll
      for (int i = 0; i < each; i++)
#pragma unroll
         for (int k = 0; k < vec; k++)
            squares += value[i].at[k] * value[i].at[k];
      const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);
#pragma unroll
      for (int i = 0; i < each; i++) {
#pragma unroll
         for (int k = 0; k < vec; k++)
            value[i].at[k] *= inverse * factor[i].at[k];
         if ((threadIdx.x + i * block) * vec < D)
            reinterpret_cast<Pack<vec> *>(out)[threadIdx.x + i * block] = value[i];
      }
      return;
   }
   for (int i = threadIdx.x; i < D; i += block)
      squares += row[i] * row[i];
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);
   for (int i = threadIdx.x; i < D; i += block)
      out[i] = row[i] * inverse * __ldg(&weight[i]);
}
