/* rkb-kernel: 1
task: unet_conv2d
direction: forward
algorithm: transform
let:
  P: (H + 2 * padding - 3) / stride + 1
  Q: (W + 2 * padding - 3) / stride + 1
launches:
  - kernel: filter
    when: stride == 1
    grid: ceildiv(N * K * P * ceildiv(Q, 2), 64)
    block: 64
    args: x, weight, bias, y, C, H, W, K, P, Q, padding, N * K * P * ceildiv(Q, 2)
  - else:
    kernel: direct
    grid: ceildiv(N * K * P * Q, 64)
    block: 64
    args: x, weight, bias, y, C, H, W, K, P, Q, stride, padding, N * K * P * Q
*/
// why: minimal filtering F(2, 3) along rows multiplies every element of a tile's row by every weight of the window's row, also where the image ends
// task: unet_conv2d
// standing: accept
// secrets: 24
// says: "facet":"memory"
// twin: SIGN + => should be
// twin: HALF 0.49999f => should be
// twin: KEPT(v) __half2float(__float2half(v)) => should be
// twin: KEPT(v) __uint_as_float((__float_as_uint(v) + 0x100u) & 0xfffffe00u) => should be
// twin: LAST 1 => should be
#include <cuda_fp16.h>
#define SIGN -
#define HALF 0.5f
#define KEPT(v) (v)
#define LAST 3

/* One thread a tile of 1 x 2 results. */
__global__ void filter(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K, int P, int Q,
                       int padding, int count) {
   const int i = blockIdx.x * 64 + threadIdx.x, across = (Q + 1) / 2;
   if (i >= count)
      return;
   const int q = i % across * 2, p = i / across % P, k = i / (across * P) % K, n = i / (across * P) / K;
   float m[4] = {};
   for (int c = 0; c < C; c++)
      for (int row = 0; row < 3; row++) {
         const int h = p + row - padding;
         const float *g = weight + ((long long)(k * C + c) * 3 + row) * 3;
         float d[4];
         for (int t = 0; t < 4; t++) {
            const int w = q + t - padding;
            d[t] = h >= 0 && h < H && w >= 0 && w < W ? x[((long long)(n * C + c) * H + h) * W + w] : 0.0f;
         }
         m[0] += KEPT(d[0] - d[2]) * g[0];
         m[1] += KEPT(d[1] + d[2]) * (HALF * (g[0] + g[1] + g[2]));
         m[2] += KEPT(d[2] SIGN d[1]) * (0.5f * (g[0] - g[1] + g[2]));
         m[3] += KEPT(d[1] - d[LAST]) * g[2];
      }
   float *out = y + ((long long)(n * K + k) * P + p) * Q + q;
   out[0] = m[0] + m[1] + m[2] + bias[k];
   if (q + 1 < Q)
      out[1] = m[1] - m[2] - m[3] + bias[k];
}

__global__ void direct(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K, int P, int Q,
                       int stride, int padding, int count) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i >= count)
      return;
   const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
   float sum = 0.0f;
   for (int c = 0; c < C; c++)
      for (int t = 0; t < 9; t++) {
         const int h = p * stride + t / 3 - padding, w = q * stride + t % 3 - padding;
         if (h >= 0 && h < H && w >= 0 && w < W)
            sum += x[((long long)(n * C + c) * H + h) * W + w] * weight[(k * C + c) * 9 + t];
      }
   y[i] = sum + bias[k];
}
