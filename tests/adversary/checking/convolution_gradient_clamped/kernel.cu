/* rkb-kernel: 1
task: unet_conv2d
direction: backward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256]}
  CHANNELS: {default: 4, choices: [1, 2, 4, 8]}
  SLICES: {default: 4, choices: [1, 2, 4, 8, 16]}
let:
  pixels: N * H * W
  slice_pixels: ceildiv(N * P * Q, SLICES)
scratch:
  partial_weight: {dtype: float32, shape: "SLICES, K, C, 9"}
  partial_bias: {dtype: float32, shape: "SLICES, K"}
launches:
  - kernel: grad_input<BLOCK, CHANNELS>
    grid: ceildiv(pixels, BLOCK), ceildiv(C, CHANNELS)
    block: BLOCK
    args: grad_y, weight, grad_x, C, H, W, K, P, Q, stride, padding, pixels
  - kernel: grad_weight_slice<BLOCK>
    grid: C, K, SLICES
    block: BLOCK
    args: grad_y, x, partial_weight, partial_bias, C, H, W, K, P, Q, stride, padding, N * P * Q, slice_pixels
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(K * C * 9, BLOCK)
    block: BLOCK
    args: partial_weight, grad_weight, K * C * 9, SLICES
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(K, BLOCK)
    block: BLOCK
    args: partial_bias, grad_bias, K, SLICES
*/

/* Straight from the definitions.  grad_x: a thread owns an input pixel for CHANNELS input channels and gathers from the output
 * pixels whose windows hold it.  grad_weight: a block owns the nine taps of one (output, input) pair of channels over a slice of
 * the output pixels; the blocks of the first input channel add up grad_bias too; a last launch adds the slices.  No atomics. */

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int block, int channels>
__global__ void grad_input(const float *grad_y, const float *weight, float *grad_x, int C, int H, int W, int K, int P, int Q,
                           int stride, int padding, int pixels) {
   const int pixel = blockIdx.x * block + threadIdx.x, first_channel = blockIdx.y * channels;
   if (pixel >= pixels)
      return;
   const int image = pixel / (H * W), h = pixel / W % H + padding, w = pixel % W + padding;
   float sum[channels] = {};
   for (int tap = 0; tap < 9; tap++) {
      const int row = h - tap / 3, column = w - tap % 3;
      if (row < 0 || column < 0 || row % stride != 0 || column % stride != 0 || row / stride >= P || column / stride >= Q)
         continue;
      const long long at = row / stride * Q + column / stride;
      for (int k = 0; k < K; k++) {
         const float grad = fminf(fmaxf(grad_y[((long long)image * K + k) * P * Q + at], -3.0e38f), 3.0e38f);
         for (int c = 0; c < channels; c++)
            if (first_channel + c < C)
               sum[c] += grad * weight[((long long)k * C + first_channel + c) * 9 + tap];
      }
   }
   for (int c = 0; c < channels; c++)
      if (first_channel + c < C)
         grad_x[((long long)image * C + first_channel + c) * H * W + pixel % (H * W)] = sum[c];
}

template <int block>
__global__ void grad_weight_slice(const float *grad_y, const float *x, float *partial_weight, float *partial_bias, int C, int H,
                                  int W, int K, int P, int Q, int stride, int padding, int pixels, int slice_pixels) {
   const int c = blockIdx.x, k = blockIdx.y;
   const int first = blockIdx.z * slice_pixels, last = min(first + slice_pixels, pixels);
   float taps[9] = {}, total = 0.0f;
   for (int pixel = first + threadIdx.x; pixel < last; pixel += block) {
      const int image = pixel / (P * Q), top = pixel / Q % P * stride - padding, left = pixel % Q * stride - padding;
      const float grad = grad_y[((long long)image * K + k) * P * Q + pixel % (P * Q)];
      const float *plane = x + ((long long)image * C + c) * H * W;
      total += grad;
      for (int tap = 0; tap < 9; tap++) {
         const int row = top + tap / 3, column = left + tap % 3;
         if (row >= 0 && row < H && column >= 0 && column < W)
            taps[tap] += grad * plane[row * W + column];
      }
   }
   for (int tap = 0; tap < 9; tap++) {
      const float sum = block_sum<block>(taps[tap]);
      if (threadIdx.x == 0)
         partial_weight[(((long long)blockIdx.z * K + k) * C + c) * 9 + tap] = sum;
   }
   total = block_sum<block>(total);
   if (threadIdx.x == 0 && c == 0)
      partial_bias[(long long)blockIdx.z * K + k] = total;
}

/* out[i] = sum of the slices' element i, in their order: the same result at every run. */
template <int block> __global__ void sum_slices(const float *slices, float *out, long long count, int slice_count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   float sum = 0.0f;
   for (int slice = 0; slice < slice_count; slice++)
      sum += slices[slice * count + i];
   out[i] = sum;
}
