/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: forward
launches:
  - kernel: conv_relu_pool
    grid: "ceildiv(N * K * P * Q, 128)"
    block: 128
    args: x, weight, bias, y, N, C, H, W, K, P, Q
*/

__device__ float larger(float a, float b) {
   return a > b || a != a ? a : b;
}

__global__ void conv_relu_pool(const float *x, const float *weight, const float *bias, float *y, int N, int C, int H, int W, int K, int P,
                               int Q) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   if (i >= N * K * P * Q)
      return;
   const int image = i / (K * P * Q), k = i / (P * Q) % K, top = i / Q % P * 2, left = i % Q * 2;
   float best = -3.402823466e38f;
   for (int window = 0; window < 4; window++) {
      float sum = bias[k];
      for (int c = 0; c < C; c++)
         for (int tap = 0; tap < 9; tap++)
            sum += x[((image * C + c) * H + top + window / 2 + tap / 3) * W + left + window % 2 + tap % 3] * weight[(k * C + c) * 9 + tap];
      best = window ? fmaxf(best, sum) : sum;
   }
   y[i] = larger(best, 0.0f);
}
