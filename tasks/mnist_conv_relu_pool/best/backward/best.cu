/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: backward
tune:
  PARTS: {default: 2, choices: [1, 2, 4]}
  SPLIT: {default: 2, choices: [1, 2, 4, 8]}
let:
  slices: N * PARTS
  input_blocks: ceildiv(N * C * H * W, 256 / SPLIT)
scratch:
  passed: {dtype: float32, shape: "N, K, P, Q, 2"}
  partial_weight: {dtype: float32, shape: "slices, K, C, 9"}
  partial_bias: {dtype: float32, shape: "slices, K"}
launches:
  - kernel: weights_of_image<PARTS>
    grid: N, ceildiv(K, 8 / PARTS)
    block: 256
    args: grad_y, x, weight, bias, passed, partial_weight, partial_bias, C, H, W, K, P, Q
  - kernel: input_and_sums<SPLIT>
    grid: input_blocks + ceildiv(K * C * 9, 32) + ceildiv(K, 32)
    block: 256
    args: passed, weight, grad_x, C, H, W, K, P, Q, N * C * H * W, input_blocks, partial_weight, grad_weight, partial_bias, grad_bias, slices
*/

/* Of the four convolution results under a pooled pixel at most one receives a gradient: the first largest one, if it is above zero.  The first
 * launch computes the convolution again, PARTS warps a channel of one image, notes which of the four it is and the gradient that passes,
 * and adds up that image's share of the weight's gradient while it has the window at hand.  In the second, SPLIT threads share an input value
 * and gather from the at most four pooled pixels of a channel that see it; further blocks add the images' shares in their order. */

__device__ float warp_sum(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   return value;
}

template <int parts>
__global__ void __launch_bounds__(256, 4)
   weights_of_image(const float *grad_y, const float *x, const float *weight, const float *bias, float *passed, float *partial_weight,
                    float *partial_bias, int C, int H, int W, int K, int P, int Q) {
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, k = blockIdx.y * (8 / parts) + warp / parts;
   const long long image = blockIdx.x;
   if (k >= K)
      return; /* the same for a whole warp */
   const long long plane = (image * K + k) * P * Q, slice = image * parts + warp % parts;
   float total = 0.0f;
   for (int i = warp % parts * 32 + lane; i < P * Q; i += 32 * parts) {
      const float arriving = grad_y[plane + i];
      const float *corner = x + (image * C * H + i / Q * 2) * W + i % Q * 2, *taps = weight + (long long)k * C * 9;
      float sum[4] = {};
      for (int c = 0; c < C; c++) {
         float value[16];
#pragma unroll
         for (int v = 0; v < 16; v++)
            value[v] = corner[v / 4 * W + v % 4];
#pragma unroll
         for (int tap = 0; tap < 9; tap++)
#pragma unroll
            for (int window = 0; window < 4; window++)
               sum[window] += taps[tap] * value[(window / 2 + tap / 3) * 4 + window % 2 + tap % 3];
         corner += H * W;
         taps += 9;
      }
      int best = 0;
      float largest = sum[0];
#pragma unroll
      for (int window = 1; window < 4; window++)
         if (sum[window] > largest || sum[window] != sum[window]) {
            largest = sum[window];
            best = window;
         }
      const float grad = largest + bias[k] <= 0.0f ? 0.0f : arriving;
      total += grad;
      *(float2 *)(passed + 2 * (plane + i)) = make_float2(grad, best);
   }
   total = warp_sum(total);
   if (lane == 0)
      partial_bias[slice * K + k] = total;
   for (int c = 0; c < C; c++) {
      float taps[9] = {};
      for (int i = warp % parts * 32 + lane; i < P * Q; i += 32 * parts) { /* what this thread has written */
         const float2 one = *(const float2 *)(passed + 2 * (plane + i));
         const int best = one.y;
         const float *corner = x + ((image * C + c) * H + i / Q * 2 + best / 2) * W + i % Q * 2 + best % 2;
#pragma unroll
         for (int tap = 0; tap < 9; tap++)
            taps[tap] += one.x * corner[tap / 3 * W + tap % 3];
      }
#pragma unroll
      for (int tap = 0; tap < 9; tap++)
         taps[tap] = warp_sum(taps[tap]);
      if (lane == 0)
#pragma unroll
         for (int tap = 0; tap < 9; tap++)
            partial_weight[((slice * K + k) * C + c) * 9 + tap] = taps[tap];
   }
}

/* out[i] = sum of the slices' element i, in one order at every run: 32 elements a block, 8 warps share the slices. */
__device__ void sum_slices(const float *slices, float *out, int block, int count, int slice_count) {
   __shared__ float part[8][32];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = block * 32 + lane;
   float sum = 0.0f;
   if (i < count)
#pragma unroll 8
      for (int slice = warp; slice < slice_count; slice += 8)
         sum += slices[(long long)slice * count + i];
   part[warp][lane] = sum;
   __syncthreads();
   if (warp == 0 && i < count) {
      for (int w = 1; w < 8; w++)
         sum += part[w][lane];
      out[i] = sum;
   }
}

template <int split>
__global__ void __launch_bounds__(256)
   input_and_sums(const float *passed, const float *weight, float *grad_x, int C, int H, int W, int K, int P, int Q, long long count,
                  int input_blocks, const float *partial_weight, float *grad_weight, const float *partial_bias, float *grad_bias,
                  int slices) {
   if (blockIdx.x >= input_blocks) {
      const int block = blockIdx.x - input_blocks, weight_blocks = (K * C * 9 + 31) / 32;
      const bool of_bias = block >= weight_blocks;
      sum_slices(of_bias ? partial_bias : partial_weight, of_bias ? grad_bias : grad_weight, of_bias ? block - weight_blocks : block,
                 of_bias ? K : K * C * 9, slices);
      return;
   }
   const long long at = (long long)blockIdx.x * (256 / split) + threadIdx.x / split, i = min(at, count - 1);
   const int h = i / W % H, w = i % W, c = i / ((long long)H * W) % C;
   const long long image = i / ((long long)H * W) / C;
   float sum = 0.0f;
#pragma unroll 4
   for (int k = threadIdx.x % split; k < K; k += split) {
      const float *plane = passed + (image * K + k) * P * Q * 2, *taps = weight + ((long long)k * C + c) * 9;
#pragma unroll
      for (int near = 0; near < 4; near++) { /* the pooled pixel over this one, and those before it */
         const int p = h / 2 - near / 2, q = w / 2 - near % 2;
         if (p < 0 || q < 0 || p >= P || q >= Q)
            continue;
         const float2 one = *(const float2 *)(plane + 2 * (p * Q + q));
         const int best = one.y, row = h - 2 * p - best / 2, column = w - 2 * q - best % 2;
         if (row >= 0 && row < 3 && column >= 0 && column < 3)
            sum += one.x * taps[row * 3 + column];
      }
   }
   for (int distance = split / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (threadIdx.x % split == 0 && at < count)
      grad_x[at] = sum;
}
