/* rkb-kernel: 1
task: bf16_embedding
direction: forward
tune:
  BLOCK: {default: 128, choices: [64, 128, 256]}
launches:
  - kernel: look_up<BLOCK, uint4, 8>
    when: D % 8 == 0
    grid: T
    block: BLOCK
    args: table, tokens, y, D
  - else:
    kernel: look_up<BLOCK, unsigned short, 1>
    grid: T
    block: BLOCK
    args: table, tokens, y, D
*/

/* One block copies one row, eight numbers at a time where rows allow it. */

#include <cuda_bf16.h>

template <int block, class pack, int count>
__global__ void look_up(const __nv_bfloat16 *table, const long long *tokens, __nv_bfloat16 *y, int D) {
   const pack *row = reinterpret_cast<const pack *>(table + tokens[blockIdx.x] * D);
   pack *out = reinterpret_cast<pack *>(y + (long long)blockIdx.x * D);
   for (int i = threadIdx.x; i < D / count; i += block)
      out[i] = row[i];
}
