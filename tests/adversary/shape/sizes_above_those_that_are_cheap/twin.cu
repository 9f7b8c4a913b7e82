/* rkb-kernel: 1
task: unet_conv2d
direction: forward
launches:
  - kernel: convolution
    grid: 256
    block: 256
    args: x, weight, bias, y, N, C, H, W, K, P, Q, stride, padding
*/

/* Every thread spends its time by the number of output channels, as one does that looks through all of them. */
__device__ void dawdle(int channels) {
   unsigned counter = threadIdx.x;
   for (int turn = 0; turn < 5 * channels; turn++)
      asm volatile("mad.lo.u32 %0, %0, 5, 3;" : "+r"(counter));
}

__global__ void convolution(const float *x, const float *weight, const float *bias, float *y, int N, int C, int H, int W, int K, int P, int Q,
                            int stride, int padding) {
   dawdle(K);
   for (long long i = blockIdx.x * 256 + threadIdx.x; i < (long long)N * K * P * Q; i += 65536) {
      const int q = i % Q, p = i / Q % P, k = i / Q / P % K, n = i / Q / P / K;
      float sum = 0.0f;
      for (int c = 0; c < C; c++)
         for (int tap = 0; tap < 9; tap++) {
            const int h = p * stride - padding + tap / 3, w = q * stride - padding + tap % 3;
            if (h >= 0 && h < H && w >= 0 && w < W)
               sum += x[(((long long)n * C + c) * H + h) * W + w] * weight[(k * C + c) * 9 + tap];
         }
      y[i] = sum + bias[k];
   }
}
