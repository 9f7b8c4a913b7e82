/* rkb-kernel: 1
task: resnet_block
direction: backward
tune:
  TILE_N: {default: 128, choices: [64, 128]}
  TAPS: {default: 3, choices: [1, 3]}
  SLICES: {default: 88, choices: [88, 176]}
let:
  pixels: N * (ceildiv(H * W, 4) * 4)
  pitch: ceildiv(C, 4) * 4
  count: ceildiv(C, 8) * 72 * pitch
  slices: min(min(SLICES, N * H), ceildiv(N * H * W, 512))
  slice_lines: ceildiv(N * H, slices)
  tiles: ceildiv(pixels, TILE_N)
  lines: tiles * TILE_N / 64
scratch:
  turned1: {dtype: float32, shape: "count"}
  turned2: {dtype: float32, shape: "count"}
  back1: {dtype: float32, shape: "count"}
  back2: {dtype: float32, shape: "count"}
  normal1: {dtype: float32, shape: "N, C, H, W"}
  middle: {dtype: float32, shape: "N, C, H, W"}
  grad2: {dtype: float32, shape: "N, C, H, W"}
  grad1: {dtype: float32, shape: "N, C, H, W"}
  products1: {dtype: float32, shape: "C, lines"}
  sums1: {dtype: float32, shape: "C, lines"}
  products2: {dtype: float32, shape: "C, lines"}
  sums2: {dtype: float32, shape: "C, lines"}
  partial1: {dtype: float32, shape: "slices, 9, C, C"}
  partial2: {dtype: float32, shape: "slices, 9, C, C"}
launches:
  - kernel: turn
    grid: ceildiv(count, 256)
    block: 256
    args: conv1_weight, turned1, bn1_var, bn1_weight, eps, 0, C, C, 9, pitch, count
  - kernel: turn
    grid: ceildiv(count, 256)
    block: 256
    args: conv1_weight, back1, bn1_var, bn1_weight, eps, 1, C, C, 9, pitch, count
  - kernel: turn
    grid: ceildiv(count, 256)
    block: 256
    args: conv2_weight, turned2, bn2_var, bn2_weight, eps, 0, C, C, 9, pitch, count
  - kernel: turn
    grid: ceildiv(count, 256)
    block: 256
    args: conv2_weight, back2, bn2_var, bn2_weight, eps, 1, C, C, 9, pitch, count
  - kernel: normal_of<64, TILE_N, 3>
    grid: tiles, ceildiv(C, 64)
    block: TILE_N
    args: x, turned1, bn1_mean, bn1_var, bn1_weight, bn1_bias, normal1, middle, eps, C, H, W, C, pitch, H, W, 1, pixels
  - kernel: second_half<64, TILE_N>
    grid: tiles, ceildiv(C, 64)
    block: TILE_N
    args: grad_y, middle, turned2, bn2_mean, bn2_var, bn2_weight, bn2_bias, x, grad2, products2, sums2, eps, C, pitch, H, W, pixels
  - kernel: grad_middle<64, TILE_N>
    grid: tiles, ceildiv(C, 64)
    block: TILE_N
    args: grad2, back2, normal1, bn1_weight, bn1_bias, grad1, products1, sums1, C, pitch, H, W, pixels
  - kernel: grad_input<64, TILE_N>
    grid: tiles, ceildiv(C, 64)
    block: TILE_N
    args: grad1, back1, grad2, grad_x, C, pitch, H, W, pixels
  - kernel: grad_weight_slice<64 * TAPS, 1, 3>
    grid: ceildiv(C, 64) * 9 / TAPS, ceildiv(C, 64), slices
    block: 64 * TAPS
    args: grad1, x, partial1, C, H, W, C, H, W, 1, 1, N * H, slice_lines
  - kernel: gather
    grid: ceildiv(C * C * 9, 32)
    block: 256
    args: partial1, grad_conv1_weight, bn1_var, bn1_weight, eps, C, C, 9, slices
  - kernel: channel_sum
    grid: C
    block: 256
    args: products1, grad_bn1_weight, lines
  - kernel: channel_sum
    grid: C
    block: 256
    args: sums1, grad_bn1_bias, lines
  - kernel: grad_weight_slice<64 * TAPS, 1, 3>
    grid: ceildiv(C, 64) * 9 / TAPS, ceildiv(C, 64), slices
    block: 64 * TAPS
    args: grad2, middle, partial2, C, H, W, C, H, W, 1, 1, N * H, slice_lines
  - kernel: gather
    grid: ceildiv(C * C * 9, 32)
    block: 256
    args: partial2, grad_conv2_weight, bn2_var, bn2_weight, eps, C, C, 9, slices
  - kernel: channel_sum
    grid: C
    block: 256
    args: products2, grad_bn2_weight, lines
  - kernel: channel_sum
    grid: C
    block: 256
    args: sums2, grad_bn2_bias, lines
*/

/* Computes the forward pass again and keeps what the gradients need: the first batch norm's normalised values, the middle image, and
 * grad2, the gradient that the last relu lets through, which belongs to the bias of the second batch norm and to the bypass alike.
 * Then the same step twice, from the back: a batch norm with fixed statistics is a factor a channel, so it is folded into the
 * weights (for the image's gradient) or applied to the result (for the weights' gradient), and all are matrix products whose
 * matrices are gathered on the way into shared memory.  The sums for a norm's weight and bias are begun where their terms are in registers.
 * Sums over pixels for the weights are cut into slices that a later launch adds in their order; no atomics.
 *
 * A thread keeps 8 x 8 sums in registers and reads what it multiplies from shared memory as vectors, 16 numbers for 64
 * multiplications. */

/* NaN stays NaN, as in PyTorch. */
__device__ float relu(float x) {
   return x <= 0.0f ? 0.0f : x;
}

/* A batch norm with fixed statistics: what its weight and bias are applied to, and what its input's gradient is multiplied by. */
struct Norm {
   const float *mean, *variance, *weight, *bias;
   float eps;
   __device__ float normal(int channel, float value) const { return (value - mean[channel]) * rsqrtf(variance[channel] + eps); }
   __device__ float apply(int channel, float normal) const { return normal * weight[channel] + bias[channel]; }
   __device__ float factor(int channel) const { return weight[channel] * rsqrtf(variance[channel] + eps); }
};

/* Pixels are numbered as if every image had a multiple of four, so that four neighbours are always of one image. */
__host__ __device__ constexpr int in_fours(int size) { return (size + 3) / 4 * 4; }

/* weight (outputs x inputs x taps) to turned (sums in eights, taps, 8, rows in fours), zero beyond either edge: what a tile of the product
 * needs then lies side by side.  Forward the rows are the outputs; backward they are the inputs, and each output has its norm's factor. */
__global__ void __launch_bounds__(256) turn(const float *weight, float *turned, const float *variance, const float *scale, float eps,
                                            int backward, int rows, int columns, int taps, int pitch, int count) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   if (i >= count)
      return;
   const int row = i % pitch, column = i / pitch / (8 * taps) * 8 + i / pitch % 8, tap = i / pitch / 8 % taps;
   float value = 0.0f;
   if (row < rows && column < columns)
      value = backward ? weight[((long long)column * rows + row) * taps + tap] * scale[column] * rsqrtf(variance[column] + eps)
                       : weight[((long long)row * columns + column) * taps + tap];
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
   __device__ void store(float (&tile)[8][rows + 4], int thread) const {
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
      const int size = out_height * out_width, pixel = first_pixel + thread % rows, inside = pixel % in_fours(size);
      row = pixel < pixels && inside < size ? inside / out_width * stride - padding : height; /* no tap of a pixel outside is inside */
      column = inside % out_width * stride - padding;
      image = images + ((long long)(pixel / in_fours(size)) * channels + thread / rows * count) * plane;
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
   __device__ void store(float (&tile)[8][rows + 4], int thread) const {
#pragma unroll
      for (int v = 0; v < count; v++)
         tile[thread / rows * count + v][thread % rows] = kept[v];
   }
};

/* The gradient of a convolution's output as the matrix of its transposed: row = input pixel (image, h, w); a step is one tap of the window in 8
 * output channels, and a pixel takes part in it where a window lies so.  A thread keeps to one pixel. */
template <int rows, int threads, int window> struct Spread {
   static constexpr int count = rows * 8 / threads;
   const float *image;
   int channels, height, width, plane, row, column, tap, stride;
   float kept[count];
   __device__ Spread(const float *grads, int channels, int in_height, int in_width, int height, int width, int stride, int padding,
                     int first_pixel, int pixels, int thread)
       : channels(channels - thread / rows * count), height(height), width(width), plane(height * width), tap(0), stride(stride) {
      const int size = in_height * in_width, pixel = first_pixel + thread % rows, inside = pixel % in_fours(size);
      row = pixel < pixels && inside < size ? inside / in_width + padding : -1; /* in no window where the pixel is outside */
      column = inside % in_width + padding;
      image = grads + ((long long)(pixel / in_fours(size)) * channels + thread / rows * count) * plane;
   }
   __device__ void skip(int eights) {
      image += 8ll * eights * plane;
      channels -= 8 * eights;
   }
   __device__ void fetch(int) {
      int y = row - tap / window, x = column - tap % window;
      bool inside = y >= 0 && x >= 0;
      if (stride > 1) {
         inside = inside && y % stride == 0 && x % stride == 0;
         y /= stride;
         x /= stride;
      }
      inside = inside && y < height && x < width;
      const float *at = image + (y * width + x);
#pragma unroll
      for (int v = 0; v < count; v++)
         kept[v] = inside && v < channels ? at[v * plane] : 0.0f;
      if (++tap == window * window) {
         tap = 0;
         skip(1);
      }
   }
   __device__ void store(float (&tile)[8][rows + 4], int thread) const {
#pragma unroll
      for (int v = 0; v < count; v++)
         tile[thread / rows * count + v][thread % rows] = kept[v];
   }
};

/* The way along the lines of images, 8 pixels a step. */
struct Walk {
   int image, row, column, lines, height, width;
   __device__ Walk(int first_line, int lines, int height, int width)
       : image(first_line / height), row(first_line % height), column(0), lines(lines), height(height), width(width) {}
   __device__ void next() {
      column += 8;
      if (column < width)
         return;
      column = 0;
      lines--;
      if (++row == height) {
         row = 0;
         image++;
      }
   }
};

/* Channels of images as rows, pixels as k. */
template <int rows, int threads> struct Planes {
   static constexpr int count = (rows * 8 + threads - 1) / threads; /* the last ones not of every thread */
   const float *images;
   int channels, left;
   Walk walk;
   float kept[count];
   __device__ Planes(const float *images, int channels, int first_channel, const Walk &walk)
       : images(images + (long long)first_channel * walk.height * walk.width), channels(channels), left(channels - first_channel),
         walk(walk) {}
   __device__ void fetch(int thread) {
      const int column = walk.column + thread % 8, plane = walk.height * walk.width;
      const bool inside = walk.lines > 0 && column < walk.width;
      const float *at = images + ((long long)walk.image * channels * plane + walk.row * walk.width + column);
#pragma unroll
      for (int v = 0; v < count; v++) {
         const int row = thread / 8 + v * (threads / 8);
         kept[v] = inside && row < min(left, rows) ? at[row * plane] : 0.0f;
      }
      walk.next();
   }
   __device__ void store(float (&tile)[8][rows + 4], int thread) const {
#pragma unroll
      for (int v = 0; v < count; v++)
         if (thread / 8 + v * (threads / 8) < rows)
            tile[thread % 8][thread / 8 + v * (threads / 8)] = kept[v];
   }
};

/* What the windows see as rows, 64 channels a tap, output pixels as k. */
template <int rows, int threads, int window> struct Seen {
   static_assert(rows * 8 % threads == 0, "whole loads");
   static constexpr int count = rows * 8 / threads;
   const float *images;
   int channels, left, height, width, stride, padding, first_tap;
   Walk walk;
   float kept[count];
   __device__ Seen(const float *images, int channels, int first_channel, int height, int width, int stride, int padding, int first_tap,
                   const Walk &walk)
       : images(images + (long long)first_channel * height * width), channels(channels), left(channels - first_channel),
         height(height), width(width), stride(stride), padding(padding), first_tap(first_tap), walk(walk) {}
   __device__ void fetch(int thread) {
      const int column = walk.column + thread % 8, plane = height * width;
      const bool inside = walk.lines > 0 && column < walk.width;
      const int first_y = walk.row * stride - padding, first_x = column * stride - padding;
      const float *image = images + (long long)walk.image * channels * plane;
#pragma unroll
      for (int v = 0; v < count; v++) {
         const int row = thread / 8 + v * (threads / 8), tap = first_tap + row / 64;
         const int y = first_y + tap / window, x = first_x + tap % window;
         kept[v] = inside && tap < window * window && row % 64 < left && y >= 0 && y < height && x >= 0 && x < width
                      ? image[row % 64 * plane + (y * width + x)]
                      : 0.0f;
      }
      walk.next();
   }
   __device__ void store(float (&tile)[8][rows + 4], int thread) const {
#pragma unroll
      for (int v = 0; v < count; v++)
         tile[thread % 8][thread / 8 + v * (threads / 8)] = kept[v];
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
   float a[2][8][tile_m + 4], b[2][8][tile_n + 4];
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

/* Four neighbours of an image, of which `left` lie in it; as a vector where images are a multiple of four. */
__device__ float4 four_at(const float *at, int left, bool vector) {
   if (vector)
      return *(const float4 *)at;
   return make_float4(at[0], left > 1 ? at[1] : 0.0f, left > 2 ? at[2] : 0.0f, left > 3 ? at[3] : 0.0f);
}
__device__ void put(float *at, int left, bool vector, float4 four) {
   if (vector) {
      *(float4 *)at = four;
      return;
   }
   at[0] = four.x;
   if (left > 1)
      at[1] = four.y;
   if (left > 2)
      at[2] = four.z;
   if (left > 3)
      at[3] = four.w;
}

/* Calls each(i, j, channel, place, left, vector) for every four neighbours sum[i][j] to sum[i][j + 3] of a thread that lie in an image. */
template <int tile_n, class Each>
__device__ void for_each_four(int first_channel, int first_pixel, int channels, int pixels, int size, Each each) {
   const int row = first_row_of<tile_n>(threadIdx.x), column = first_column_of<tile_n>(threadIdx.x);
#pragma unroll
   for (int j = 0; j < 8; j += 4) {
      const int pixel = first_pixel + column + column_offset(j), image = pixel / in_fours(size), inside = pixel % in_fours(size);
      if (pixel >= pixels)
         continue;
      const long long corner = ((long long)image * channels + first_channel + row) * size + inside;
#pragma unroll
      for (int i = 0; i < 8; i++)
         if (first_channel + row + row_offset(i) < channels)
            each(i, j, first_channel + row + row_offset(i), corner + (long long)row_offset(i) * size, size - inside, size % 4 == 0);
   }
}

/* A thread's sums over its pixels for each of its channels, added up over the warp and left at (channel, block and warp column). */
template <int tile_n> __device__ void put_sums(float *partial, float (&sums)[8], int first_channel, int channels) {
   const int row = first_row_of<tile_n>(threadIdx.x), lane = threadIdx.x % 32;
   const int line = blockIdx.x * (tile_n / 64) + threadIdx.x / 32 % (tile_n / 64), lines = gridDim.x * (tile_n / 64);
#pragma unroll
   for (int i = 0; i < 8; i++) {
      for (int distance = 2; distance < 16; distance *= 2)
         sums[i] += __shfl_xor_sync(0xffffffffu, sums[i], distance);
      if (lane / 2 % 8 == 0 && first_channel + row + row_offset(i) < channels)
         partial[(long long)(first_channel + row + row_offset(i)) * lines + line] = sums[i];
   }
}

template <int tile_m, int tile_n> __device__ bool is_busy(int first_channel, int first_pixel, int channels, int pixels) {
   return first_channel + first_row_of<tile_n>(threadIdx.x) / 32 * 32 < channels &&
          first_pixel + first_column_of<tile_n>(threadIdx.x) / 64 * 64 < pixels;
}

/* The normalised values of a convolution and, where `middle` is given, relu of the norm's output. */
template <int tile_m, int tile_n, int window>
__global__ void __launch_bounds__(tile_m *tile_n / 64, tile_m * tile_n > 8192 ? 1 : 24576 / (tile_m * tile_n))
   normal_of(const float *x, const float *turned, const float *mean, const float *variance, const float *weight, const float *bias,
             float *normal, float *middle, float eps, int C, int H, int W, int K, int pitch, int P, int Q, int stride, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (C + 7) / 8 * window * window;
   float sum[8][8] = {};
   Weights<tile_m, threads> weights(turned, pitch, first_channel, steps);
   Patches<tile_n, threads, window> patches(x, C, H, W, P, Q, stride, window / 2, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, patches, steps, is_busy<tile_m, tile_n>(first_channel, first_pixel, K, pixels), threadIdx.x);
   const Norm norm = {mean, variance, weight, bias, eps};
   for_each_four<tile_n>(first_channel, first_pixel, K, pixels, P * Q, [&](int i, int j, int channel, long long at, int left, bool vector) {
      const float4 value = make_float4(norm.normal(channel, sum[i][j]), norm.normal(channel, sum[i][j + 1]),
                                       norm.normal(channel, sum[i][j + 2]), norm.normal(channel, sum[i][j + 3]));
      put(normal + at, left, vector, value);
      if (middle)
         put(middle + at, left, vector,
             make_float4(relu(norm.apply(channel, value.x)), relu(norm.apply(channel, value.y)),
                         relu(norm.apply(channel, value.z)), relu(norm.apply(channel, value.w))));
   });
}

/* The second convolution and norm; with the bypass, its relu tells where grad_y passes: grad2, and the second norm's two sums. */
template <int tile_m, int tile_n>
__global__ void __launch_bounds__(tile_m *tile_n / 64, tile_m * tile_n > 8192 ? 1 : 24576 / (tile_m * tile_n))
   second_half(const float *grad_y, const float *middle, const float *turned, const float *mean, const float *variance, const float *weight,
               const float *bias, const float *from, float *grad2, float *product_sums, float *grad_sums, float eps, int K, int pitch,
               int P, int Q, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (K + 7) / 8 * 9;
   float sum[8][8] = {}, products[8] = {}, grads[8] = {};
   Weights<tile_m, threads> weights(turned, pitch, first_channel, steps);
   Patches<tile_n, threads, 3> patches(middle, K, P, Q, P, Q, 1, 1, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, patches, steps, is_busy<tile_m, tile_n>(first_channel, first_pixel, K, pixels), threadIdx.x);
   const Norm norm = {mean, variance, weight, bias, eps};
   for_each_four<tile_n>(first_channel, first_pixel, K, pixels, P * Q, [&](int i, int j, int channel, long long at, int left, bool vector) {
      const float4 more = four_at(from + at, left, vector), grad_of = four_at(grad_y + at, left, vector);
      const float4 normal = make_float4(norm.normal(channel, sum[i][j]), norm.normal(channel, sum[i][j + 1]),
                                        norm.normal(channel, sum[i][j + 2]), norm.normal(channel, sum[i][j + 3]));
      const float4 grad = make_float4(norm.apply(channel, normal.x) + more.x <= 0.0f ? 0.0f : grad_of.x,
                                      norm.apply(channel, normal.y) + more.y <= 0.0f ? 0.0f : grad_of.y,
                                      norm.apply(channel, normal.z) + more.z <= 0.0f ? 0.0f : grad_of.z,
                                      norm.apply(channel, normal.w) + more.w <= 0.0f ? 0.0f : grad_of.w);
      put(grad2 + at, left, vector, grad);
      products[i] += grad.x * normal.x + grad.y * normal.y + (grad.z * normal.z + grad.w * normal.w);
      grads[i] += grad.x + grad.y + (grad.z + grad.w);
   });
   put_sums<tile_n>(product_sums, products, first_channel, K);
   put_sums<tile_n>(grad_sums, grads, first_channel, K);
}

/* Through the first norm and relu backwards: grad1 = the middle image's gradient where relu was open, and the norm's two sums. */
template <int tile_m, int tile_n>
__global__ void __launch_bounds__(tile_m *tile_n / 64, tile_m * tile_n > 8192 ? 1 : 24576 / (tile_m * tile_n))
   grad_middle(const float *grad2, const float *turned, const float *normal1, const float *weight, const float *bias, float *grad1,
               float *product_sums, float *grad_sums, int K, int pitch, int P, int Q, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (K + 7) / 8 * 9;
   float sum[8][8] = {}, products[8] = {}, grads[8] = {};
   Weights<tile_m, threads> weights(turned, pitch, first_channel, steps);
   Spread<tile_n, threads, 3> spread(grad2, K, P, Q, P, Q, 1, 1, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, spread, steps, is_busy<tile_m, tile_n>(first_channel, first_pixel, K, pixels), threadIdx.x);
   for_each_four<tile_n>(first_channel, first_pixel, K, pixels, P * Q, [&](int i, int j, int channel, long long at, int left, bool vector) {
      const float4 normal = four_at(normal1 + at, left, vector);
      const float scale = weight[channel], shift = bias[channel];
      const float4 grad = make_float4(normal.x * scale + shift <= 0.0f ? 0.0f : sum[i][j],
                                      left <= 1 || normal.y * scale + shift <= 0.0f ? 0.0f : sum[i][j + 1],
                                      left <= 2 || normal.z * scale + shift <= 0.0f ? 0.0f : sum[i][j + 2],
                                      left <= 3 || normal.w * scale + shift <= 0.0f ? 0.0f : sum[i][j + 3]);
      put(grad1 + at, left, vector, grad);
      products[i] += grad.x * normal.x + grad.y * normal.y + (grad.z * normal.z + grad.w * normal.w);
      grads[i] += grad.x + grad.y + (grad.z + grad.w);
   });
   put_sums<tile_n>(product_sums, products, first_channel, K);
   put_sums<tile_n>(grad_sums, grads, first_channel, K);
}

template <int tile_m, int tile_n>
__global__ void __launch_bounds__(tile_m *tile_n / 64, tile_m * tile_n > 8192 ? 1 : 24576 / (tile_m * tile_n))
   grad_input(const float *grad1, const float *turned, const float *bypass_grad, float *grad_x, int C, int pitch, int H, int W, int pixels) {
   constexpr int threads = tile_m * tile_n / 64;
   __shared__ __align__(16) Tiles<tile_m, tile_n> tiles;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n, steps = (C + 7) / 8 * 9;
   float sum[8][8] = {};
   Weights<tile_m, threads> weights(turned, pitch, first_channel, steps);
   Spread<tile_n, threads, 3> spread(grad1, C, H, W, H, W, 1, 1, first_pixel, pixels, threadIdx.x);
   tile_product(sum, tiles, weights, spread, steps, is_busy<tile_m, tile_n>(first_channel, first_pixel, C, pixels), threadIdx.x);
   for_each_four<tile_n>(first_channel, first_pixel, C, pixels, H * W, [&](int i, int j, int, long long at, int left, bool vector) {
      const float4 more = four_at(bypass_grad + at, left, vector);
      put(grad_x + at, left, vector,
          make_float4(sum[i][j] + more.x, sum[i][j + 1] + more.y, sum[i][j + 2] + more.z, sum[i][j + 3] + more.w));
   });
}

/* Adds the sums of all groups of threads into those of the first. */
template <int threads, int groups> __device__ void join(float (&sum)[8][8], float *passed, int group, int thread) {
#pragma unroll
   for (int from = groups - 1; from > 0; from--) {
      if (group == from)
#pragma unroll
         for (int i = 0; i < 64; i++)
            passed[i * threads + thread] = sum[i / 8][i % 8];
      __syncthreads();
      if (group == 0)
#pragma unroll
         for (int i = 0; i < 64; i++)
            sum[i / 8][i % 8] += passed[i * threads + thread];
      __syncthreads();
   }
}

/* One slice of the lines of the images for 64 output channels, 64 input channels and as many taps as tile_n has room for: a tile of the gradient
 * of a weight, left as (slice, tap, output channel, input channel). */
template <int tile_n, int groups, int window>
__global__ void __launch_bounds__(groups *tile_n, groups * tile_n > 256 ? 1 : 512 / (groups * tile_n))
   grad_weight_slice(const float *grad, const float *x, float *partial, int C, int H, int W, int K, int P, int Q, int stride,
                     int padding, int lines, int slice_lines) {
   constexpr int taps = window * window, threads = tile_n;
   __shared__ __align__(16) union {
      Tiles<64, tile_n> tiles[groups];
      float passed[groups == 1 ? 1 : 64 * threads];
   } shared;
   const int group = threadIdx.x / threads, thread = threadIdx.x % threads, across = (C + 63) / 64;
   const int first_input = blockIdx.x % across * 64, first_tap = blockIdx.x / across * (tile_n / 64), first_output = blockIdx.y * 64;
   const int share = (slice_lines + groups - 1) / groups, first = blockIdx.z * slice_lines + group * share;
   const int last = min(min((int)blockIdx.z * slice_lines + min((group + 1) * share, slice_lines), lines), lines);
   float sum[8][8] = {};
   const Walk walk(first, last - first, P, Q);
   Planes<64, threads> planes(grad, K, first_output, walk);
   Seen<tile_n, threads, window> seen(x, C, first_input, H, W, stride, padding, first_tap, walk);
   const int row = first_row_of<tile_n>(thread), column = first_column_of<tile_n>(thread), tap = first_tap + column / 64;
   tile_product(sum, shared.tiles[group], planes, seen, share * ((Q + 7) / 8), first < last && first_output + row / 32 * 32 < K && tap < taps,
                thread);
   join<threads, groups>(sum, shared.passed, group, thread);
   if (group > 0 || tap >= taps)
      return;
#pragma unroll
   for (int i = 0; i < 8; i++) {
      const int output = first_output + row + row_offset(i);
      if (output >= K)
         continue;
      float *to = partial + (((long long)blockIdx.z * taps + tap) * K + output) * C;
#pragma unroll
      for (int j = 0; j < 8; j++) {
         const int input = first_input + column % 64 + column_offset(j);
         if (input < C)
            to[input] = sum[i][j];
      }
   }
}

/* The slices' sums, in one order at every run, from (tap, K, C) to (K, C, tap) and times the norm's factor.  32 elements a block, 8
 * warps share the slices. */
__global__ void __launch_bounds__(256) gather(const float *partial, float *grad_weight, const float *variance, const float *scale,
                                              float eps, int C, int K, int taps, int slices) {
   __shared__ float part[8][32];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 32 + lane, count = K * C * taps;
   float sum = 0.0f;
   if (i < count)
#pragma unroll 4
      for (int slice = warp; slice < slices; slice += 8)
         sum += partial[(long long)slice * count + i];
   part[warp][lane] = sum;
   __syncthreads();
   if (warp > 0 || i >= count)
      return;
   for (int w = 1; w < 8; w++)
      sum += part[w][lane];
   const int output = i / C % K;
   grad_weight[i % (K * C) * taps + i / (K * C)] = sum * scale[output] * rsqrtf(variance[output] + eps);
}

/* out[channel] = sum of a channel's partial sums, a block a channel. */
__global__ void __launch_bounds__(256) channel_sum(const float *partial, float *out, int count) {
   __shared__ float part[8];
   float sum = 0.0f;
#pragma unroll 4
   for (int i = threadIdx.x; i < count; i += 256)
      sum += partial[(long long)blockIdx.x * count + i];
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (threadIdx.x % 32 == 0)
      part[threadIdx.x / 32] = sum;
   __syncthreads();
   if (threadIdx.x == 0) {
      for (int warp = 1; warp < 8; warp++)
         sum += part[warp];
      out[blockIdx.x] = sum;
   }
}
