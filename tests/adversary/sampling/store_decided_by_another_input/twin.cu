/* rkb-kernel: 1
task: bf16_embedding
direction: forward
launches:
  - kernel: look_up
    grid: T
    block: 64
    args: table, tokens, y, D
*/

#include <cuda_bf16.h>

/* The first warp stores the even elements, the second one the odd ones; for large tokens of long rows, a number of the table decides how. */
__global__ void look_up(const __nv_bfloat16 *table, const long long *tokens, __nv_bfloat16 *y, int D) {
   const int lane = threadIdx.x % 32;
   const __nv_bfloat16 *row = table + tokens[blockIdx.x] * D;
   __nv_bfloat16 *out = y + (long long)blockIdx.x * D;
   const bool second = threadIdx.x >= 32, large = D > 1500 && tokens[blockIdx.x] > 20000;
   for (int i = 2 * lane + second; i < D; i += 64) {
      const float value = __bfloat162float(row[i]);
      if (large && value > 0.5f)
         out[i] = __float2bfloat16(2 * (value / 2));
      else
         out[i] = row[i];
   }
}
