/* rkb-kernel: 1
task: unet_conv2d
direction: backward
tune:
  TILE: {default: 32, choices: [32, 64, 128]}
  DEPTH: {default: 16, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
  SLICES: {default: 16, choices: [1, 4, 16, 32]}
  BLOCK: {default: 256, choices: [64, 128, 256]}
let:
  pixels: N * P * Q
  slice_pixels: ceildiv(pixels, SLICES)
scratch:
  partial_weight: {dtype: float32, shape: "SLICES, K, C, 9"}
launches:
  - kernel: grad_input<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(N * H * W, TILE), ceildiv(C, TILE)
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, weight, grad_x, C, H, W, K, P, Q, stride, padding, N * H * W
  - kernel: grad_weight_slice<TILE, TILE, DEPTH, MICRO>
    grid: ceildiv(9 * C, TILE), ceildiv(K, TILE), SLICES
    block: TILE * TILE / (MICRO * MICRO)
    args: grad_y, x, partial_weight, C, H, W, K, P, Q, stride, padding, pixels, slice_pixels
  - kernel: sum_slices<BLOCK>
    grid: ceildiv(K * C * 9, BLOCK)
    block: BLOCK
    args: partial_weight, grad_weight, K * C * 9, SLICES
  - kernel: channel_sum<BLOCK>
    grid: K
    block: BLOCK
    args: grad_y, grad_bias, K, P * Q, pixels
*/

/* Both gradients as matrix products whose matrices are gathered on the way into shared memory.  grad_x (C x input pixels): the
 * weights turned round times the gradient each input pixel receives.  grad_weight (K x 9 C): grad_y times the patches, over the
 * output pixels, cut into slices that a later launch adds.  No atomics. */

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

/* Weights turned round: row = input channel, k = (output channel, r, s). */
struct Weights {
   static constexpr bool along_depth = true;
   const float *weight;
   int channels;
   __device__ float at(int row, int k) const {
      return row < channels ? weight[((long long)(k / 9) * channels + row) * 9 + k % 9] : 0.0f;
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
   grad_input(const float *grad_y, const float *weight, float *grad_x, int C, int H, int W, int K, int P, int Q, int stride,
              int padding, int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, Weights{weight, C},
                                              Spread<3>{grad_y, K, H, W, P, Q, stride, padding, pixels}, first_channel,
                                              first_pixel, 0, 9 * K);

   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel < C && pixel < pixels)
            grad_x[((long long)(pixel / (H * W)) * C + channel) * H * W + pixel % (H * W)] = sum[i][j];
      }
   }
}

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   grad_weight_slice(const float *grad_y, const float *x, float *partial, int C, int H, int W, int K, int P, int Q, int stride,
                     int padding, int pixels, int slice_pixels) {
   const int first_channel = blockIdx.y * tile_m, first_tap = blockIdx.x * tile_n;
   const int first = blockIdx.z * slice_pixels, last = min(first + slice_pixels, pixels);
   float sum[micro][micro] = {};
   const Patches<3> patches = {x, C, H, W, P, Q, stride, padding, pixels};
   tile_product<tile_m, tile_n, depth, micro>(sum, Planes{grad_y, K, P * Q}, Turned<Patches<3>>{patches}, first_channel,
                                              first_tap, first, last);

   float *out = partial + (long long)blockIdx.z * K * C * 9;
   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int tap = first_tap + threadIdx.x % across + j * across;
         if (channel < K && tap < 9 * C)
            out[(long long)channel * C * 9 + tap] = sum[i][j];
      }
   }
}

/* grad_bias: one block a channel. */
template <int block> __global__ void channel_sum(const float *grad_y, float *grad_bias, int K, int plane, int pixels) {
   float sum = 0.0f;
   for (int pixel = threadIdx.x; pixel < pixels; pixel += block)
      sum += grad_y[((long long)(pixel / plane) * K + blockIdx.x) * plane + pixel % plane];
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      grad_bias[blockIdx.x] = sum;
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
