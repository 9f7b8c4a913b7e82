/* rkb-kernel: 1
task: fp16_geglu
direction: backward
launches:
  - kernel: geglu_backward
    grid: ceildiv(D, 256), R
    block: 256
    args: grad_y, x, grad_x, D
*/

/* With Phi the normal distribution and phi its density: the hidden half receives g gate Phi(gate), and the gate receives
 * g hidden (Phi(gate) + gate phi(gate)). */

#include <cuda_fp16.h>

__global__ void geglu_backward(const __half *grad_y, const __half *x, __half *grad_x, int D) {
   const int column = blockIdx.x * 256 + threadIdx.x;
   const long long row = blockIdx.y;
   if (column >= D)
      return;
   const float g = __half2float(grad_y[row * D + column]);
   const float hidden = __half2float(x[row * 2 * D + column]), gate = __half2float(x[row * 2 * D + D + column]);
   const float share = 0.5f * erfcf(-gate * 0.70710678f), density = 0.39894228f * expf(-0.5f * gate * gate);
   grad_x[row * 2 * D + column] = __float2half(g * (gate * share));
   grad_x[row * 2 * D + D + column] = __float2half(g * hidden * (share + gate * density));
}
