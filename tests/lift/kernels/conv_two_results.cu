/* rkb-kernel: 1
task: unet_conv2d
direction: forward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256]}
  CHANNELS: {default: 4, choices: [1, 2, 4, 8, 16]}
  OUTPUTS: {default: 4, choices: [1, 2, 4, 8]}
let:
  pixels: N * P * Q
launches:
  - kernel: conv<BLOCK, CHANNELS>
    grid: ceildiv(ceildiv(pixels, BLOCK), OUTPUTS), ceildiv(K, CHANNELS)
    block: BLOCK
    args: x, weight, bias, y, C, H, W, K, P, Q, stride, padding, pixels
*/

/* Straight from the definition: a thread owns one output pixel for CHANNELS output channels, so each input value it loads is
 * used that often, and all threads of a block read the same weights. */

template <int block, int channels>
__global__ void conv(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K, int P, int Q,
                     int stride, int padding, int pixels) {
   int pixel[OUTPUTS];
   const int first_channel = blockIdx.y * channels;
#pragma unroll
   for (int result = 0; result < OUTPUTS; result++) {
      pixel[result] = min((int)((blockIdx.x * OUTPUTS + result) * block + threadIdx.x), (int)(pixels) - 1);
   }
   bool live[OUTPUTS];
#pragma unroll
   for (int result = 0; result < OUTPUTS; result++) {
      live[result] = (int)((blockIdx.x * OUTPUTS + result) * block + threadIdx.x) < (int)(pixels);
   }
   int image[OUTPUTS];
   int top[OUTPUTS];
   int left[OUTPUTS];
#pragma unroll
   for (int result = 0; result < OUTPUTS; result++) {
      image[result] = pixel[result] / (P * Q);
      top[result] = pixel[result] / Q % P * stride - padding;
      left[result] = pixel[result] % Q * stride - padding;
   }
   float sum[OUTPUTS][channels] = {};
   for (int c = 0; c < C; c++) {
      const float *plane[OUTPUTS];
#pragma unroll
      for (int result = 0; result < OUTPUTS; result++) {
         plane[result] = x + ((long long)image[result] * C + c) * H * W;
      }
      for (int tap = 0; tap < 9; tap++) {
         int row[OUTPUTS];
         int column[OUTPUTS];
#pragma unroll
         for (int result = 0; result < OUTPUTS; result++) {
            row[result] = top[result] + tap / 3;
            column[result] = left[result] + tap % 3;
         }
         bool value_inside[OUTPUTS];
#pragma unroll
         for (int result = 0; result < OUTPUTS; result++) {
            value_inside[result] = !((((row[result] < 0) | (row[result] >= H)) | (column[result] < 0)) | (column[result] >= W));
         }
         float value_read[OUTPUTS];
#pragma unroll
         for (int result = 0; result < OUTPUTS; result++) {
            value_read[result] = x[value_inside[result] ? (((long long)image[result] * C + c) * H * W) + (row[result] * W + column[result]) : 0];
         }
         float value[OUTPUTS];
#pragma unroll
         for (int result = 0; result < OUTPUTS; result++) {
            value[result] = value_inside[result] ? value_read[result] : 0.0f;
         }
         for (int k = 0; k < channels; k++) {
            if (first_channel + k < K) {
#pragma unroll
               for (int result = 0; result < OUTPUTS; result++) {
                  sum[result][k] += value[result] * weight[((long long)(first_channel + k) * C + c) * 9 + tap];
               }
            }
         }
      }
   }
   for (int k = 0; k < channels; k++) {
      if (first_channel + k < K) {
#pragma unroll
         for (int result = 0; result < OUTPUTS; result++) {
            if (live[result]) y[((long long)image[result] * K + first_channel + k) * P * Q + pixel[result] % (P * Q)] = sum[result][k] + bias[first_channel + k];
         }
      }
   }
}
