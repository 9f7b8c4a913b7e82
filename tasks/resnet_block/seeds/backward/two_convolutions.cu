/* rkb-kernel: 1
task: resnet_block
direction: backward
tune:
  TILE_M: {default: 64, choices: [32, 64]}
  TILE_N: {default: 64, choices: [32, 64, 128]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
  SLICES: {default: 64, choices: [16, 64, 128]}
let:
  pixels: N * H * W
  slice_pixels: ceildiv(pixels, SLICES)
scratch:
  normal1: {dtype: float32, shape: "N, C, H, W"}
  middle: {dtype: float32, shape: "N, C, H, W"}
  normal2: {dtype: float32, shape: "N, C, H, W"}
  grad2: {dtype: float32, shape: "N, C, H, W"}
  grad1: {dtype: float32, shape: "N, C, H, W"}
  partial1: {dtype: float32, shape: "SLICES, C, C, 9"}
  partial2: {dtype: float32, shape: "SLICES, C, C, 9"}
launches:
  - kernel: first_half<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(pixels, TILE_N), ceildiv(C, TILE_M)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: x, conv1_weight, bn1_mean, bn1_var, bn1_weight, bn1_bias, normal1, middle, eps, C, H, W, C, H, W, 1, pixels
  - kernel: second_half<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(pixels, TILE_N), ceildiv(C, TILE_M)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: grad_y, middle, conv2_weight, bn2_mean, bn2_var, bn2_weight, bn2_bias, x, normal2, grad2, eps, C, H, W, C, H, W, 1, pixels
  - kernel: grad_middle<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(pixels, TILE_N), ceildiv(C, TILE_M)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: grad2, conv2_weight, bn2_weight, bn2_var, middle, grad1, eps, C, H, W, pixels
  - kernel: grad_input<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(N * H * W, TILE_N), ceildiv(C, TILE_M)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: grad1, conv1_weight, bn1_weight, bn1_var, grad2, grad_x, eps, C, H, W, C, H, W, 1, N * H * W
  - kernel: grad_weight_slice<TILE_M, TILE_N, DEPTH, MICRO, 3>
    grid: ceildiv(9 * C, TILE_N), ceildiv(C, TILE_M), SLICES
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: grad1, x, bn1_weight, bn1_var, partial1, eps, C, H, W, C, H, W, 1, pixels, slice_pixels
  - kernel: grad_weight_slice<TILE_M, TILE_N, DEPTH, MICRO, 3>
    grid: ceildiv(9 * C, TILE_N), ceildiv(C, TILE_M), SLICES
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: grad2, middle, bn2_weight, bn2_var, partial2, eps, C, H, W, C, H, W, 1, pixels, slice_pixels
  - kernel: sum_slices<256>
    grid: ceildiv(C * C * 9, 256)
    block: 256
    args: partial1, grad_conv1_weight, C * C * 9, SLICES
  - kernel: sum_slices<256>
    grid: ceildiv(C * C * 9, 256)
    block: 256
    args: partial2, grad_conv2_weight, C * C * 9, SLICES
  - kernel: channel_sums<512>
    grid: C
    block: 512
    args: grad1, normal1, grad_bn1_weight, grad_bn1_bias, C, H * W, pixels
  - kernel: channel_sums<512>
    grid: C
    block: 512
    args: grad2, normal2, grad_bn2_weight, grad_bn2_bias, C, H * W, pixels
*/

/* Computes the forward pass again and keeps what the gradients need: each batch norm's normalised value, the middle image, and
 * grad2, the gradient that the last relu lets through. It belongs to the bias of the second batch norm and to the bypass alike.
 * Then the same step twice, from the back: a batch norm with fixed statistics is a factor a channel, so it is folded into the
 * weights (for the image's gradient) or applied to the result (for the weights' gradient), and both are matrix products whose
 * matrices are gathered on the way into shared memory. Sums over pixels for the weights are cut into slices that a later launch
 * adds in their order; no atomics. */

/* NaN stays NaN, as in PyTorch. */
__device__ float relu(float x) {
   return x <= 0.0f ? 0.0f : x;
}

/* Brings `rows` x `depth` numbers of a matrix into shared memory, neighbouring threads along the direction that is
 * contiguous in memory.  Matrix is a small object that gives element (row, k), zero where the row is outside. */
template <int rows, int depth, int threads, class Matrix>
__device__ void load_tile(float (&tile)[depth][rows + 1], const Matrix &matrix, int first_row, int first_k, int last_k) {
   for (int i = threadIdx.x; i < rows * depth; i += threads) {
      const int row = Matrix::along_depth ? i / depth : i % rows;
      const int k = Matrix::along_depth ? i % depth : i / rows;
      tile[k][row] = first_k + k < last_k ? matrix.at(first_row + row, first_k + k) : 0.0f;
   }
}

/* sum[i][j] += sum over k of a(m, k) * b(n, k) for a tile of tile_m x tile_n results.  A thread owns micro x micro of them,
 * spread over the tile with a step so that a warp reads shared memory without conflicts. */
template <int tile_m, int tile_n, int depth, int micro, class A, class B>
__device__ void tile_product(float (&sum)[micro][micro], const A &a, const B &b, int first_m, int first_n, int first_k,
                             int last_k) {
   constexpr int across = tile_n / micro, down = tile_m / micro, threads = across * down;
   __shared__ float a_tile[depth][tile_m + 1], b_tile[depth][tile_n + 1];
   const int column = threadIdx.x % across, row = threadIdx.x / across;
   for (int k0 = first_k; k0 < last_k; k0 += depth) {
      load_tile<tile_m, depth, threads>(a_tile, a, first_m, k0, last_k);
      load_tile<tile_n, depth, threads>(b_tile, b, first_n, k0, last_k);
      __syncthreads();
      for (int k = 0; k < depth; k++) {
         float left[micro], right[micro];
#pragma unroll
         for (int i = 0; i < micro; i++) {
            left[i] = a_tile[k][row + i * down];
            right[i] = b_tile[k][column + i * across];
         }
#pragma unroll
         for (int i = 0; i < micro; i++)
#pragma unroll
            for (int j = 0; j < micro; j++)
               sum[i][j] += left[i] * right[j];
      }
      __syncthreads();
   }
}

/* A matrix whose row is contiguous along k. */
struct ByRow {
   static constexpr bool along_depth = true;
   const float *data;
   long long pitch;
   int rows;
   __device__ float at(int row, int k) const { return row < rows ? data[row * pitch + k] : 0.0f; }
};

/* Images as the matrix of a convolution: row = output pixel (image, p, q), k = (channel, r, s) of the window; zero where the
 * window hangs over the edge. */
template <int window> struct Patches {
   static constexpr bool along_depth = false;
   const float *image;
   int channels, height, width, out_height, out_width, stride, padding, pixels;
   __device__ float at(int pixel, int k) const {
      const int channel = k / (window * window);
      if (pixel >= pixels || channel >= channels)
         return 0.0f;
      const int row = pixel / out_width % out_height * stride + k / window % window - padding;
      const int column = pixel % out_width * stride + k % window - padding;
      if (row < 0 || row >= height || column < 0 || column >= width)
         return 0.0f;
      const long long plane = (long long)(pixel / (out_width * out_height)) * channels + channel;
      return image[(plane * height + row) * width + column];
   }
};

/* The same matrix with row and k exchanged. */
template <class Matrix> struct Turned {
   static constexpr bool along_depth = !Matrix::along_depth;
   Matrix matrix;
   __device__ float at(int row, int k) const { return matrix.at(k, row); }
};

/* The gradient as an input pixel sees it: row = input pixel (image, h, w), k = (output channel, r, s); the output pixel whose
 * window has this input pixel at (r, s), or zero where there is none. */
template <int window> struct Spread {
   static constexpr bool along_depth = false;
   const float *grad;
   int channels, height, width, out_height, out_width, stride, padding, pixels;
   __device__ float at(int pixel, int k) const {
      if (pixel >= pixels)
         return 0.0f;
      const int row = pixel / width % height + padding - k / window % window, column = pixel % width + padding - k % window;
      if (row < 0 || column < 0 || row % stride != 0 || column % stride != 0)
         return 0.0f;
      if (row / stride >= out_height || column / stride >= out_width)
         return 0.0f;
      const long long plane = (long long)(pixel / (width * height)) * channels + k / (window * window);
      return grad[(plane * out_height + row / stride) * out_width + column / stride];
   }
};

/* A batch of images as a matrix: row = channel, k = pixel (image, p, q). */
struct Planes {
   static constexpr bool along_depth = true;
   const float *image;
   int channels, plane;
   __device__ float at(int row, int k) const {
      return row < channels ? image[((long long)(k / plane) * channels + row) * plane + k % plane] : 0.0f;
   }
};

/* Batch norm with fixed statistics: what its weight and bias are applied to. */
struct Norm {
   const float *mean, *variance;
   float eps;
   __device__ float inverse(int channel) const { return rsqrtf(variance[channel] + eps); }
   __device__ float at(int channel, float value) const { return (value - mean[channel]) * inverse(channel); }
};

/* Weights turned round, each output channel times its batch norm's factor: row = input channel, k = (output channel, r, s). */
template <int window> struct ScaledWeights {
   static constexpr bool along_depth = true;
   const float *weight, *scale, *variance;
   float eps;
   int channels;
   __device__ float at(int row, int k) const {
      constexpr int taps = window * window;
      const int out = k / taps;
      if (row >= channels)
         return 0.0f;
      return weight[((long long)out * channels + row) * taps + k % taps] * scale[out] * rsqrtf(variance[out] + eps);
   }
};

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

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   first_half(const float *x, const float *weight, const float *mean, const float *variance, const float *scale,
              const float *shift, float *normal, float *middle, float eps, int C, int H, int W, int K, int P, int Q, int stride,
              int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{weight, 9ll * C, K}, Patches<3>{x, C, H, W, P, Q, stride, 1, pixels},
                                              first_channel, first_pixel, 0, 9 * C);

   const Norm norm = {mean, variance, eps};
   constexpr int across = tile_n / micro, lines = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * lines;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel >= K || pixel >= pixels)
            continue;
         const long long at = ((long long)(pixel / (P * Q)) * K + channel) * P * Q + pixel % (P * Q);
         const float value = norm.at(channel, sum[i][j]);
         normal[at] = value;
         middle[at] = relu(value * scale[channel] + shift[channel]);
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   second_half(const float *grad_y, const float *x, const float *weight, const float *mean, const float *variance,
               const float *scale, const float *shift, const float *from, float *normal,
               float *grad, float eps, int C, int H, int W, int K, int P, int Q, int stride, int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{weight, 9ll * C, K}, Patches<3>{x, C, H, W, P, Q, stride, 1, pixels},
                                              first_channel, first_pixel, 0, 9 * C);

   const Norm norm = {mean, variance, eps};
   constexpr int across = tile_n / micro, lines = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * lines;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel >= K || pixel >= pixels)
            continue;
         const long long at = ((long long)(pixel / (P * Q)) * K + channel) * P * Q + pixel % (P * Q);
         const float value = norm.at(channel, sum[i][j]);
         const float bypassed = from[at];
         normal[at] = value;
         grad[at] = value * scale[channel] + shift[channel] + bypassed <= 0.0f ? 0.0f : grad_y[at];
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_middle(const float *grad, const float *weight, const float *scale, const float *variance, const float *middle,
               float *grad_out, float eps, int K, int P, int Q, int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ScaledWeights<3>{weight, scale, variance, eps, K},
                                              Spread<3>{grad, K, P, Q, P, Q, 1, 1, pixels}, first_channel, first_pixel, 0,
                                              9 * K);

   constexpr int across = tile_n / micro, lines = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * lines;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel >= K || pixel >= pixels)
            continue;
         const long long at = ((long long)(pixel / (P * Q)) * K + channel) * P * Q + pixel % (P * Q);
         grad_out[at] = middle[at] <= 0.0f ? 0.0f : sum[i][j];
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_input(const float *grad, const float *weight, const float *scale, const float *variance, const float *bypass_grad,
              float *grad_x, float eps, int C,
              int H, int W, int K, int P, int Q, int stride, int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ScaledWeights<3>{weight, scale, variance, eps, C},
                                              Spread<3>{grad, K, H, W, P, Q, stride, 1, pixels}, first_channel, first_pixel, 0,
                                              9 * K);

   constexpr int across = tile_n / micro, lines = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * lines;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel >= C || pixel >= pixels)
            continue;
         const long long at = ((long long)(pixel / (H * W)) * C + channel) * H * W + pixel % (H * W);
         grad_x[at] = sum[i][j] + bypass_grad[at];
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro, int window>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_weight_slice(const float *grad, const float *x, const float *scale, const float *variance, float *partial, float eps,
                     int C, int H, int W, int K, int P, int Q, int stride, int pixels, int slice_pixels) {
   constexpr int taps = window * window;
   const int first_channel = blockIdx.y * tile_m, first_tap = blockIdx.x * tile_n;
   const int first = blockIdx.z * slice_pixels, last = min(first + slice_pixels, pixels);
   float sum[micro][micro] = {};
   const Patches<window> patches = {x, C, H, W, P, Q, stride, window / 2, pixels};
   tile_product<tile_m, tile_n, depth, micro>(sum, Planes{grad, K, P * Q}, Turned<Patches<window>>{patches}, first_channel,
                                              first_tap, first, last);

   float *out = partial + (long long)blockIdx.z * K * C * taps;
   constexpr int across = tile_n / micro, lines = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * lines;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int tap = first_tap + threadIdx.x % across + j * across;
         if (channel >= K || tap >= taps * C)
            continue;
         const long long at = (long long)channel * C * taps + tap;
         out[at] = sum[i][j] * scale[channel] * rsqrtf(variance[channel] + eps);
      }
   }
}

/* Gradients of one batch norm's weight and bias: sums over a channel of grad * normal and of grad.  One block a channel. */
template <int block>
__global__ void channel_sums(const float *grad, const float *normal, float *grad_weight, float *grad_bias, int K, int plane,
                             int pixels) {
   float products = 0.0f, grads = 0.0f;
   for (int pixel = threadIdx.x; pixel < pixels; pixel += block) {
      const long long at = ((long long)(pixel / plane) * K + blockIdx.x) * plane + pixel % plane;
      products += grad[at] * normal[at];
      grads += grad[at];
   }
   products = block_sum<block>(products);
   grads = block_sum<block>(grads);
   if (threadIdx.x == 0) {
      grad_weight[blockIdx.x] = products;
      grad_bias[blockIdx.x] = grads;
   }
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
