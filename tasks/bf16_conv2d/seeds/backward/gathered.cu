/* rkb-kernel: 1
task: bf16_conv2d
direction: backward
launches:
  - kernel: image_gradient
    grid: N * H, ceildiv(C, 64)
    block: 64
    args: grad_y, weight, grad_x, H, W, C, K, P, Q, window, stride, padding
  - kernel: weight_gradient
    grid: ceildiv(C, 64), window * window, K
    block: 64
    args: grad_y, x, grad_weight, N, H, W, C, K, P, Q, window, stride, padding
*/

/* Neither gradient needs atomic additions: a thread gathers all that one element receives, in fp32, and rounds it once.  Neighbouring threads
 * take neighbouring channels of the image, which lie together in the image, in its gradient and in the weights. */

#include <cuda_bf16.h>

/* A block takes a row of pixels and 64 channels. */
__global__ void image_gradient(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *weight, __nv_bfloat16 *grad_x, int H, int W, int C,
                               int K, int P, int Q, int window, int stride, int padding) {
   const int c = blockIdx.y * 64 + threadIdx.x, h = blockIdx.x % H, n = blockIdx.x / H;
   if (c >= C)
      return;
   for (int w = 0; w < W; w++) {
      float sum = 0.0f;
      for (int r = 0; r < window; r++)
         for (int s = 0; s < window; s++) {
            const int below = h + padding - r, beside = w + padding - s, p = below / stride, q = beside / stride;
            if (below < 0 || beside < 0 || below % stride || beside % stride || p >= P || q >= Q)
               continue;
            const __nv_bfloat16 *from = grad_y + (((long long)n * P + p) * Q + q) * K;
            for (int k = 0; k < K; k++)
               sum += __bfloat162float(from[k]) * __bfloat162float(weight[(((long long)k * window + r) * window + s) * C + c]);
         }
      grad_x[(((long long)n * H + h) * W + w) * C + c] = __float2bfloat16(sum);
   }
}

/* A block takes 64 channels at one place of one window. */
__global__ void weight_gradient(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, __nv_bfloat16 *grad_weight, int N, int H, int W,
                                int C, int K, int P, int Q, int window, int stride, int padding) {
   const int c = blockIdx.x * 64 + threadIdx.x, r = blockIdx.y / window, s = blockIdx.y % window, k = blockIdx.z;
   if (c >= C)
      return;
   float sum = 0.0f;
   for (int n = 0; n < N; n++)
      for (int p = 0; p < P; p++) {
         const int h = p * stride - padding + r;
         for (int q = 0; q < Q; q++) {
            const int w = q * stride - padding + s;
            if (h >= 0 && h < H && w >= 0 && w < W)
               sum += __bfloat162float(grad_y[(((long long)n * P + p) * Q + q) * K + k]) *
                      __bfloat162float(x[(((long long)n * H + h) * W + w) * C + c]);
         }
      }
   grad_weight[(((long long)k * window + r) * window + s) * C + c] = __float2bfloat16(sum);
}
