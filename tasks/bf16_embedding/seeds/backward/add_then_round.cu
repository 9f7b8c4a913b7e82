/* rkb-kernel: 1
task: bf16_embedding
direction: backward
tune:
  BLOCK: {default: 128, choices: [64, 128, 256]}
scratch:
  sums: {dtype: float32, shape: "V, D", init: zero}
launches:
  - kernel: add_rows<BLOCK>
    grid: T
    block: BLOCK
    args: grad_y, tokens, sums, D
  - kernel: round_rows<BLOCK>
    grid: ceildiv(V * D, BLOCK)
    block: BLOCK
    args: sums, grad_table, V * D
*/

/* Atomic additions in fp32, then one rounding to bfloat16: atomic additions in bfloat16 would round once a token. */

#include <cuda_bf16.h>

template <int block>
__global__ void add_rows(const __nv_bfloat16 *grad_y, const long long *tokens, float *sums, int D) {
   const __nv_bfloat16 *row = grad_y + (long long)blockIdx.x * D;
   float *sum = sums + tokens[blockIdx.x] * D;
   for (int i = threadIdx.x; i < D; i += block)
      atomicAdd(&sum[i], __bfloat162float(row[i]));
}

template <int block> __global__ void round_rows(const float *sums, __nv_bfloat16 *grad_table, long long count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i < count)
      grad_table[i] = __float2bfloat16(sums[i]);
}
