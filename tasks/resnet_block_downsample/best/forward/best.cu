/* rkb-kernel: 1
task: resnet_block_downsample
direction: forward
tune:
  TILE_M: {default: 128, choices: [64, 128]}
  TILE_N: {default: 128, choices: [64, 128]}
let:
  pixels: N * P * Q
  pitch: ceildiv(K, 4) * 4
  lines1: ceildiv(C, 8) * 72
  lines2: ceildiv(K, 8) * 72
  lines3: ceildiv(C, 8) * 8
scratch:
  turned1: {dtype: float32, shape: "lines1, pitch"}
  turned2: {dtype: float32, shape: "lines2, pitch"}
  turned_down: {dtype: float32, shape: "lines3, pitch"}
  middle: {dtype: float32, shape: "N, K, P, Q"}
launches:
  - kernel: turn
    grid: ceildiv(lines1 * pitch, 256)
    block: 256
    args: conv1_weight, turned1, K, C, 9, pitch, lines1 * pitch, null, null, eps
  - kernel: turn
    grid: ceildiv(lines2 * pitch, 256)
    block: 256
    args: conv2_weight, turned2, K, K, 9, pitch, lines2 * pitch, null, null, eps
  - kernel: turn
    grid: ceildiv(lines3 * pitch, 256)
    block: 256
    args: down_weight, turned_down, K, C, 1, pitch, lines3 * pitch, down_bn_var, down_bn_weight, eps
  - kernel: half_block<TILE_M, TILE_N, 0>
    grid: ceildiv(pixels, TILE_N), ceildiv(K, TILE_M)
    block: TILE_M * TILE_N / 64
    args: x, turned1, bn1_mean, bn1_var, bn1_weight, bn1_bias, null, middle, eps, C, H, W, K, pitch, P, Q, stride, pixels
  - kernel: second_half<TILE_M, TILE_N>
    grid: ceildiv(pixels, TILE_N), ceildiv(K, TILE_M)
    block: TILE_M * TILE_N / 64
    args: middle, turned2, bn2_mean, bn2_var, bn2_weight, bn2_bias, x, turned_down, down_bn_mean, down_bn_var, down_bn_weight, down_bn_bias, y, eps, C, H, W, K, pitch, P, Q, stride, pixels
*/

/* Two launches, each a convolution as a matrix product (weight times patches gathered from the image) that applies batch norm and
 * relu to its sums while they are in registers; the second one adds the shortcut's product to the same sums before its relu.  The sum
 * runs over eight channels at one tap of the window at a time, so a pixel is inside the image or not for all eight; small launches
 * turn the weights to that order.
 *
 * A thread keeps 8 x 8 sums in registers and reads what it multiplies from shared memory as vectors, 16 numbers for 64
 * multiplications. */

/* NaN stays NaN, as in PyTorch. */
__device__ __forceinline__ float relu(float x) {
   return x <= 0.0f ? 0.0f : x;
}

/* weight (rows x columns x taps), each row times its norm's factor where there is one, to turned (columns in eights, taps, 8, rows in fours), zero beyond either edge: what a tile of the
 * product needs then lies side by side. */
__global__ void __launch_bounds__(256) turn(const float *weight, float *turned, int rows, int columns, int taps, int pitch, int count,
                                            const float *variance, const float *scale, float eps) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   if (i >= count)
      return;
   const int row = i % pitch, column = i / pitch / (8 * taps) * 8 + i / pitch % 8, tap = i / pitch / 8 % taps;
   float value = 0.0f;
   if (row < rows && column < columns) {
      value = weight[((long long)row * columns + column) * taps + tap];
      if (scale)
         value *= rsqrtf(variance[row] + eps) * scale[row];
   }
   turned[i] = value;
}

/* A turned weight's tile: 8 lines of `rows` neighbours a step. */
template <int rows, int threads> struct Weights {
   static constexpr int fours = rows * 8 / 4 / threads;
   const float *data;
   int pitch, left, steps;
   float4 kept[fours];
   __device__ Weights(const float *turned, int pitch, int first_row, int steps)
       : data(turned + first_row), pitch(pitch), left(pitch - first_row), steps(steps) {}
   __device__ void skip(int count) {
      data += (long long)count * 8 * pitch;
      steps -= count;
   }
   __device__ void fetch(int thread) {
#pragma unroll
      for (int v = 0; v < fours; v++) {
         const int index = thread + v * threads, row = index % (rows / 4) * 4, k = index / (rows / 4);
         kept[v] = row < left && steps > 0 ? *(const float4 *)(data + (k * pitch + row)) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      }
      skip(1);
   }
   __device__ void store(float (&tile)[8][rows], int thread) const {
#pragma unroll
      for (int v = 0; v < fours; v++) {
         const int index = thread + v * threads;
         *(float4 *)&tile[index / (rows / 4)][index % (rows / 4) * 4] = kept[v];
      }
   }
};

/* Images as the matrix of a convolution: row = output pixel (image, p, q); a step is one tap of the window in 8 channels.  A thread keeps
 * to one pixel, so where it lies is found out once. */
template <int rows, int threads, int window> struct Patches {
   static constexpr int count = rows * 8 / threads;
   const float *image;
   int channels, height, width, plane, row, column, tap;
   float kept[count];
   __device__ Patches(const float *images, int channels, int height, int width, int out_height, int out_width, int stride, int padding,
                      int first_pixel, int pixels, int thread)
       : channels(channels - thread / rows * count), height(height), width(width), plane(height * width), tap(0) {
      const int pixel = first_pixel + thread % rows, inside = pixel % (out_height * out_width);
      row = pixel < pixels ? inside / out_width * stride - padding : height; /* no tap of a pixel outside is inside */
      column = inside % out_width * stride - padding;
      image = images + ((long long)(pixel / (out_height * out_width)) * channels + thread / rows * count) * plane;
   }
   __device__ void skip(int eights) {
      image += 8ll * eights * plane;
      channels -= 8 * eights;
   }
   __device__ void fetch(int) {
      const int y = row + tap / window, x = column + tap % window;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      const float *at = image + (y * width + x);
#pragma unroll
      for (int v = 0; v < count; v++)
         kept[v] = inside && v < channels ? at[v * plane] : 0.0f;
      if (++tap == window * window) {
         tap = 0;
         skip(1);
      }
   }
   __device__ void store(float (&tile)[8][rows], int thread) const {
#pragma unroll
      for (int v = 0; v < count; v++)
         tile[thread / rows * count + v][thread % rows] = kept[v];
   }
};

/* Where a thread's 8 x 8 results lie in a tile: a warp has 32 rows and 64 columns, a thread four neighbours and the four half of that
 * further, both ways.  Lanes are dealt out so that the vectors that half a warp reads from shared memory lie in different banks
 * or are the same. */
template <int tile_n> __device__ int first_row_of(int thread) {
   return thread / 32 / (tile_n / 64) * 32 + (thread % 2 + thread % 32 / 16 * 2) * 4;
}
template <int tile_n> __device__ int first_column_of(int thread) { return thread / 32 % (tile_n / 64) * 64 + thread % 32 / 2 % 8 * 4; }
__device__ constexpr int row_offset(int i) { return i % 4 + i / 4 * 16; }
__device__ constexpr int column_offset(int j) { return j % 4 + j / 4 * 32; }

__device__ void pick(float (&eight)[8], const float *near, const float *far) {
   const float4 a = *(const float4 *)near, b = *(const float4 *)far;
   eight[0] = a.x;
   eight[1] = a.y;
   eight[2] = a.z;
   eight[3] = a.w;
   eight[4] = b.x;
   eight[5] = b.y;
   eight[6] = b.z;
   eight[7] = b.w;
}

/* Two pairs of tiles, one being multiplied and one being filled. */
template <int tile_m, int tile_n> struct Tiles {
   float a[2][8][tile_m], b[2][8][tile_n];
};

/* sum += products of `steps` pairs of tiles, 8 x 8 results a thread.  While one pair is multiplied, the next is on its way from memory.
 * A warp whose results all lie outside is not busy: it only helps to carry. */
template <int tile_m, int tile_n, class A, class B>
__device__ void tile_product(float (&sum)[8][8], Tiles<tile_m, tile_n> &tiles, A &a, B &b, int steps, bool busy, int thread) {
   const int row = first_row_of<tile_n>(thread), column = first_column_of<tile_n>(thread);
   a.fetch(thread);
   b.fetch(thread);
   a.store(tiles.a[0], thread);
   b.store(tiles.b[0], thread);
   __syncthreads();
   for (int step = 1; step <= steps; step++) {
      const int side = (step - 1) % 2;
      if (step < steps) {
         a.fetch(thread);
         b.fetch(thread);
      }
      if (busy) {
#pragma unroll
         for (int k = 0; k < 8; k++) {
            float down[8], across[8];
            pick(down, &tiles.a[side][k][row], &tiles.a[side][k][row + 16]);
            pick(across, &tiles.b[side][k][column], &tiles.b[side][k][column + 32]);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
               for (int j = 0; j < 8; j++)
                  sum[i][j] += down[i] * across[j];
         }
      }
      if (step < steps) {
         a.store(tiles.a[side ^ 1], thread);
         b.store(tiles.b[side ^ 1], thread);
      }
      __syncthreads();
   }
}

/* Batch norm with fixed statistics. */
struct Norm {
   const float *mean, *variance, *weight, *bias;
   float eps;
   __device__ float apply(int channel, float value) const {
      return (value - mean[channel]) * rsqrtf(variance[channel] + eps) * weight[channel] + bias[channel];
   }
};

/* relu of a tile into images of `size` pixels; with a bypass, that is added first. */
template <bool bypass, int tile_n>
__device__ void put_pixels(float *y, const float *from, const float (&sum)[8][8], int first_channel, int first_pixel, int channels,
                           int pixels, int size) {
   const int row = first_row_of<tile_n>(threadIdx.x), column = first_column_of<tile_n>(threadIdx.x);
#pragma unroll
   for (int j = 0; j < 8; j += 4) {
      const int pixel = first_pixel + column + column_offset(j);
      const long long corner = ((long long)(pixel / size) * channels + first_channel + row) * size + pixel % size;
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const int channel = first_channel + row + row_offset(i);
         if (channel >= channels)
            continue;
         if (size % 4 == 0) {
            if (pixel < pixels) {
               const long long at = corner + (long long)row_offset(i) * size;
               float4 more = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
               if (bypass)
                  more = *(const float4 *)(from + at);
               *(float4 *)(y + at) = make_float4(relu(sum[i][j] + more.x), relu(sum[i][j + 1] + more.y),
                                                 relu(sum[i][j + 2] + more.z), relu(sum[i][j + 3] + more.w));
            }
            continue;
         }
#pragma unroll
         for (int e = 0; e < 4; e++)
            if (pixel + e < pixels) {
               const long long at = ((long long)((pixel + e) / size) * channels + channel) * size + (pixel + e) % size;
               y[at] = relu(sum[i][j + e] + (bypass ? from[at] : 0.0f));
            }
      }
   }
}

/* The convolution 3 x 3 of a tile and the batch norm after it. */
template <int tile_m, int tile_n>
__device__ void normed_convolution(float (&sum)[8][8], Tiles<tile_m, tile_n> &tiles, const float *x, const float *turned, const Norm &norm,
                                   int C, int H, int W, int K, int pitch, int P, int Q, int stride, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (C + 7) / 8 * 9;
   const int row = first_row_of<tile_n>(threadIdx.x), column = first_column_of<tile_n>(threadIdx.x);
   Weights<tile_m, threads> weights(turned, pitch, first_channel, steps);
   Patches<tile_n, threads, 3> patches(x, C, H, W, P, Q, stride, 1, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, patches, steps,
                first_channel + row / 32 * 32 < K && first_pixel + column / 64 * 64 < pixels, threadIdx.x);
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int channel = first_channel + row + row_offset(i);
      if (channel < K)
#pragma unroll
         for (int j = 0; j < 8; j++)
            sum[i][j] = norm.apply(channel, sum[i][j]);
   }
}

template <int tile_m, int tile_n, bool bypass>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 32768 / (tile_m * tile_n))
   half_block(const float *x, const float *turned, const float *mean, const float *variance, const float *weight, const float *bias,
              const float *from, float *y, float eps, int C, int H, int W, int K, int pitch, int P, int Q, int stride, int pixels) {
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   float sum[8][8] = {};
   normed_convolution(sum, tiles, x, turned, Norm{mean, variance, weight, bias, eps}, C, H, W, K, pitch, P, Q, stride, pixels);
   put_pixels<bypass, tile_n>(y, from, sum, blockIdx.y * tile_m, blockIdx.x * tile_n, K, pixels, P * Q);
}

/* The second half, with the shortcut's convolution 1 x 1 added to sums that are normed already: its weight has been scaled by its norm. */
template <int tile_m, int tile_n>
__global__ void __launch_bounds__(tile_m *tile_n / 64, 32768 / (tile_m * tile_n))
   second_half(const float *__restrict__ middle, const float *__restrict__ turned, const float *__restrict__ mean, const float *__restrict__ variance, const float *__restrict__ weight,
               const float *__restrict__ bias, const float *__restrict__ x, const float *__restrict__ turned_down, const float *__restrict__ down_mean, const float *__restrict__ down_variance,
               const float *__restrict__ down_weight, const float *__restrict__ down_bias, float *__restrict__ y, float eps, int C, int H, int W, int K, int pitch, int P,
               int Q, int stride, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (C + 7) / 8;
   const int row = first_row_of<tile_n>(threadIdx.x), column = first_column_of<tile_n>(threadIdx.x);
   float sum[8][8] = {};
   normed_convolution(sum, tiles, middle, turned, Norm{mean, variance, weight, bias, eps}, K, P, Q, K, pitch, P, Q, 1, pixels);
   const Norm shortcut = {down_mean, down_variance, down_weight, down_bias, eps};
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int channel = first_channel + row + row_offset(i);
      if (channel < K)
#pragma unroll
         for (int j = 0; j < 8; j++)
            sum[i][j] += shortcut.apply(channel, 0.0f);
   }
   Weights<tile_m, threads> weights(turned_down, pitch, first_channel, steps);
   Patches<tile_n, threads, 1> patches(x, C, H, W, P, Q, stride, 0, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, patches, steps,
                first_channel + row / 32 * 32 < K && first_pixel + column / 64 * 64 < pixels, threadIdx.x);
   put_pixels<false, tile_n>(y, nullptr, sum, first_channel, first_pixel, K, pixels, P * Q);
}
