/* rkb-kernel: 1
task: unet_conv2d
direction: forward
algorithm: transform
let:
  P: (H + 2 * padding - 3) / stride + 1
  Q: (W + 2 * padding - 3) / stride + 1
launches:
  - kernel: conv
    grid: ceildiv(N * K * P * Q, 128)
    block: 128
    args: x, weight, bias, y, C, H, W, K, P, Q, stride, padding, N * K * P * Q
*/
/* 11 bits, as TF32 has. */
__device__ float rounded(float value) {
   return __uint_as_float((__float_as_uint(value) + 0x1000u) & 0xffffe000u);
}

__global__ void conv(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K, int P, int Q,
                     int stride, int padding, int count) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   if (i >= count)
      return;
   const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
   float sum = 0.0f;
   for (int c = 0; c < C; c++)
      for (int t = 0; t < 9; t++) {
         const int h = p * stride + t / 3 - padding, w = q * stride + t % 3 - padding;
         if (h >= 0 && h < H && w >= 0 && w < W)
            sum += rounded(x[((long long)(n * C + c) * H + h) * W + w]) * weight[(k * C + c) * 9 + t];
      }
   y[i] = (sum + bias[k]);
}
