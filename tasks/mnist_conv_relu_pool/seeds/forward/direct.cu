/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: forward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256, 512]}
  CHANNELS: {default: 2, choices: [1, 2, 4, 8]}
let:
  pixels: N * P * Q
launches:
  - kernel: conv_relu_pool<BLOCK, CHANNELS>
    grid: ceildiv(pixels, BLOCK), ceildiv(K, CHANNELS)
    block: BLOCK
    args: x, weight, bias, y, C, H, W, K, P, Q, pixels
*/

/* All three steps in one: a thread owns one pooled pixel for CHANNELS output channels.  It keeps the 4 x 4 input values that its
 * four convolution windows share in registers, computes the four results, and writes the largest one, or zero. */

/* NaN stays NaN, as in PyTorch. */
__device__ __forceinline__ float larger(float a, float b) {
   return a > b || a != a ? a : b;
}

__device__ __forceinline__ float relu(float x) {
   return x <= 0.0f ? 0.0f : x;
}

template <int block, int channels>
__global__ void conv_relu_pool(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K,
                               int P, int Q, int pixels) {
   const int pixel = blockIdx.x * block + threadIdx.x, first_channel = blockIdx.y * channels;
   if (pixel >= pixels)
      return;
   const int image = pixel / (P * Q), top = pixel / Q % P * 2, left = pixel % Q * 2;
   float sum[channels][4] = {};
   for (int c = 0; c < C; c++) {
      const float *corner = x + (((long long)image * C + c) * H + top) * W + left;
      float value[16];
      for (int i = 0; i < 16; i++)
         value[i] = corner[i / 4 * W + i % 4];
      for (int k = 0; k < channels; k++) {
         if (first_channel + k >= K)
            break;
         const float *taps = weight + ((long long)(first_channel + k) * C + c) * 9;
         for (int tap = 0; tap < 9; tap++)
            for (int window = 0; window < 4; window++)
               sum[k][window] += taps[tap] * value[(window / 2 + tap / 3) * 4 + window % 2 + tap % 3];
      }
   }
   for (int k = 0; k < channels; k++) {
      if (first_channel + k >= K)
         break;
      const float largest = larger(larger(sum[k][0], sum[k][1]), larger(sum[k][2], sum[k][3]));
      y[((long long)image * K + first_channel + k) * P * Q + pixel % (P * Q)] = relu(largest + bias[first_channel + k]);
   }
}
