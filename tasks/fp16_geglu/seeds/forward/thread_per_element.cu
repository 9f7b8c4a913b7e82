/* rkb-kernel: 1
task: fp16_geglu
direction: forward
launches:
  - kernel: geglu
    grid: ceildiv(D, 256), R
    block: 256
    args: x, y, D
*/

/* A thread computes one element in fp32 and rounds it once.  A block stays within a row. */

#include <cuda_fp16.h>

__global__ void geglu(const __half *x, __half *y, int D) {
   const int column = blockIdx.x * 256 + threadIdx.x;
   const long long row = blockIdx.y;
   if (column >= D)
      return;
   const float hidden = __half2float(x[row * 2 * D + column]), gate = __half2float(x[row * 2 * D + D + column]);
   y[row * D + column] = __float2half(hidden * (0.5f * gate * erfcf(-gate * 0.70710678f)));
}
