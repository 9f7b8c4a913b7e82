/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: forward
tune:
  TILE_M: {default: 32, choices: [32, 64]}
  TILE_N: {default: 64, choices: [32, 64, 128]}
  DEPTH: {default: 8, choices: [8, 16, 32]}
  MICRO: {default: 4, choices: [4, 8]}
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
let:
  rows: H - 2
  columns: W - 2
  pixels: N * rows * columns
scratch:
  convolved: {dtype: float32, shape: "N, K, rows, columns"}
launches:
  - kernel: conv<TILE_M, TILE_N, DEPTH, MICRO>
    grid: ceildiv(pixels, TILE_N), ceildiv(K, TILE_M)
    block: TILE_M * TILE_N / (MICRO * MICRO)
    args: x, weight, bias, convolved, C, H, W, K, rows, columns, pixels
  - kernel: relu_pool<BLOCK>
    grid: ceildiv(N * K * P * Q, BLOCK)
    block: BLOCK
    args: convolved, y, rows, columns, P, Q, N * K * P * Q
*/

/* The convolution as a matrix product, weight (K x 9 C) times patches gathered from the images, then relu and pooling in a second
 * launch.  It pays where there are many input channels; with one channel the depth of 9 is short. */

/* NaN stays NaN, as in PyTorch. */
__device__ __forceinline__ float larger(float a, float b) {
   return a > b || a != a ? a : b;
}

__device__ __forceinline__ float relu(float x) {
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

template <int tile_m, int tile_n, int depth, int micro>
__global__ void __launch_bounds__(tile_m *tile_n / (micro * micro))
   conv(const float *x, const float *weight, const float *bias, float *convolved, int C, int H, int W, int K, int rows,
        int columns, int pixels) {
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   float sum[micro][micro] = {};
   tile_product<tile_m, tile_n, depth, micro>(sum, ByRow{weight, 9ll * C, K}, Patches<3>{x, C, H, W, rows, columns, 1, 0, pixels},
                                              first_channel, first_pixel, 0, 9 * C);

   const int plane = rows * columns;
   constexpr int across = tile_n / micro, down = tile_m / micro;
#pragma unroll
   for (int i = 0; i < micro; i++) {
      const int channel = first_channel + threadIdx.x / across + i * down;
#pragma unroll
      for (int j = 0; j < micro; j++) {
         const int pixel = first_pixel + threadIdx.x % across + j * across;
         if (channel < K && pixel < pixels)
            convolved[((long long)(pixel / plane) * K + channel) * plane + pixel % plane] = sum[i][j] + bias[channel];
      }
   }
}

template <int block>
__global__ void relu_pool(const float *convolved, float *y, int rows, int columns, int P, int Q, long long count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   const long long plane = i / (P * Q);
   const int top = i / Q % P * 2, left = i % Q * 2;
   const float *window = convolved + (plane * rows + top) * columns + left;
   const float largest = larger(larger(window[0], window[1]), larger(window[columns], window[columns + 1]));
   y[i] = relu(largest);
}
