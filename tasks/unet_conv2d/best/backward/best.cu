/* rkb-kernel: 1
task: unet_conv2d
direction: backward
tune:
  GROUPS: {default: 4, choices: [2, 4]}
  TAPS: {default: 1, choices: [1, 3]}
  SLICES: {default: 14, choices: [14, 28]}
let:
  pixels: N * H * W
  pitch: ceildiv(C, 4) * 4
  lines: ceildiv(K, 8) * 72
  turns: ceildiv(lines * pitch, 256)
  slices: min(min(SLICES, N * P), ceildiv(N * P * Q, 256))
  slice_lines: ceildiv(N * P, slices)
scratch:
  turned: {dtype: float32, shape: "lines, pitch"}
  partial_weight: {dtype: float32, shape: "slices, 9, K, C"}
  partial_bias: {dtype: float32, shape: "N, K"}
launches:
  - kernel: prepare
    grid: turns + N * K
    block: 256
    args: weight, turned, C, K, 9, pitch, lines * pitch, turns, grad_y, partial_bias, P * Q
  - kernel: grad_input<64, GROUPS>
    grid: ceildiv(pixels, 64), ceildiv(C, 64)
    block: 64 * GROUPS
    args: grad_y, turned, grad_x, C, H, W, K, pitch, P, Q, stride, padding, pixels
  - kernel: grad_weight_slice<64, GROUPS, 3>
    when: TAPS == 1
    grid: ceildiv(C, 64) * 9, ceildiv(K, 64), slices
    block: 64 * GROUPS
    args: grad_y, x, partial_weight, C, H, W, K, P, Q, stride, padding, N * P, slice_lines
  - else:
    kernel: grad_weight_slice<192, 1, 3>
    grid: ceildiv(C, 64) * 3, ceildiv(K, 64), slices
    block: 192
    args: grad_y, x, partial_weight, C, H, W, K, P, Q, stride, padding, N * P, slice_lines
  - kernel: gather
    grid: ceildiv(K * C * 9, 32) + ceildiv(K, 32)
    block: 256
    args: partial_weight, grad_weight, C, K, 9, slices, partial_bias, grad_bias, N
*/

/* Both gradients as matrix products whose matrices are gathered on the way into shared memory.  grad_x (C x input pixels): the
 * weights turned round times the gradient each input pixel receives, summed over eight output channels at one tap of the window at a
 * time.  grad_weight (K x C, for each tap): grad_y times what the windows see, over the output pixels, cut into slices that the last launch
 * adds.  The first launch turns the weight and sums grad_y's planes for the bias.  No atomics.
 *
 * A thread keeps 8 x 8 sums in registers and reads what it multiplies from shared memory as vectors, 16 numbers for 64
 * multiplications.  Where there are fewer tiles than the device holds, up to GROUPS groups of threads share a tile's sum. */

__device__ float warp_sum(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   return value;
}

/* The first `turns` blocks: weight (columns x rows x taps) to turned (columns in eights, taps, 8, rows in fours), zero beyond either
 * edge: what a tile of the product needs then lies side by side.  Every other block sums one plane. */
__global__ void __launch_bounds__(256) prepare(const float *weight, float *turned, int rows, int columns, int taps, int pitch, int count,
                                               int turns, const float *planes, float *sums, int size) {
   __shared__ float part[8];
   if (blockIdx.x < turns) {
      const int i = blockIdx.x * 256 + threadIdx.x;
      if (i >= count)
         return;
      const int row = i % pitch, column = i / pitch / (8 * taps) * 8 + i / pitch % 8, tap = i / pitch / 8 % taps;
      turned[i] = row < rows && column < columns ? weight[((long long)column * rows + row) * taps + tap] : 0.0f;
      return;
   }
   const float *plane = planes + (long long)(blockIdx.x - turns) * size;
   float sum = 0.0f;
#pragma unroll 4
   for (int i = threadIdx.x; i < size; i += 256)
      sum += plane[i];
   sum = warp_sum(sum);
   if (threadIdx.x % 32 == 0)
      part[threadIdx.x / 32] = sum;
   __syncthreads();
   if (threadIdx.x == 0) {
      for (int warp = 1; warp < 8; warp++)
         sum += part[warp];
      sums[blockIdx.x - turns] = sum;
   }
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
      const int pixel = first_pixel + thread % rows, inside = pixel % (in_height * in_width);
      row = pixel < pixels ? inside / in_width + padding : -1; /* in no window where the pixel is outside */
      column = inside % in_width + padding;
      image = grads + ((long long)(pixel / (in_height * in_width)) * channels + thread / rows * count) * plane;
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
__global__ void __launch_bounds__(groups *tile_n, 1)
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

template <int tile_n, int groups>
__global__ void __launch_bounds__(groups *tile_n, groups * tile_n > 256 ? 1 : 512 / (groups * tile_n))
   grad_input(const float *__restrict__ grad, const float *__restrict__ turned, float *__restrict__ grad_x, int C, int H, int W, int K, int pitch, int P, int Q, int stride,
              int padding, int pixels) {
   constexpr int threads = tile_n;
   __shared__ __align__(16) union {
      Tiles<64, tile_n> tiles[groups];
      float passed[groups == 1 ? 1 : 64 * threads];
   } shared;
   const int group = threadIdx.x / threads, thread = threadIdx.x % threads;
   const int first_channel = blockIdx.y * 64, first_pixel = blockIdx.x * tile_n;
   const int eights = (K + 7) / 8, share = (eights + groups - 1) / groups;
   float sum[8][8] = {};
   Weights<64, threads> weights(turned, pitch, first_channel, eights * 9);
   Spread<tile_n, threads, 3> spread(grad, K, H, W, P, Q, stride, padding, first_pixel, pixels, thread);
   const int row = first_row_of<tile_n>(thread), column = first_column_of<tile_n>(thread);
   weights.skip(group * share * 9);
   spread.skip(group * share);
   tile_product(sum, shared.tiles[group], weights, spread, share * 9,
                group * share < eights && first_channel + row / 32 * 32 < C && first_pixel + column / 64 * 64 < pixels, thread);
   join<threads, groups>(sum, shared.passed, group, thread);
   if (group > 0)
      return;
   const int size = H * W;
#pragma unroll
   for (int j = 0; j < 8; j += 4) {
      const int pixel = first_pixel + column + column_offset(j);
      float *to = grad_x + ((long long)(pixel / size) * C + first_channel + row) * size + pixel % size;
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const int channel = first_channel + row + row_offset(i);
         if (channel >= C)
            continue;
         if (size % 4 == 0) {
            if (pixel < pixels)
               *(float4 *)(to + row_offset(i) * size) = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            continue;
         }
#pragma unroll
         for (int e = 0; e < 4; e++)
            if (pixel + e < pixels)
               grad_x[((long long)((pixel + e) / size) * C + channel) * size + (pixel + e) % size] = sum[i][j + e];
      }
   }
}

/* The slices' sums, in one order at every run: of the weight, from (tap, K, C) to (K, C, tap), and then of the bias.  32 elements
 * a block, 8 warps share the slices. */
__global__ void __launch_bounds__(256) gather(const float *partial_weight, float *grad_weight, int C, int K, int taps, int slices,
                                              const float *partial_bias, float *grad_bias, int bias_slices) {
   __shared__ float part[8][32];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, weights = K * C * taps, weight_blocks = (weights + 31) / 32;
   const bool of_bias = blockIdx.x >= weight_blocks;
   const int i = (blockIdx.x - (of_bias ? weight_blocks : 0)) * 32 + lane, count = of_bias ? K : weights;
   const float *from = of_bias ? partial_bias : partial_weight;
   float sum = 0.0f;
   if (i < count)
#pragma unroll 4
      for (int slice = warp; slice < (of_bias ? bias_slices : slices); slice += 8)
         sum += from[(long long)slice * count + i];
   part[warp][lane] = sum;
   __syncthreads();
   if (warp > 0 || i >= count)
      return;
   for (int w = 1; w < 8; w++)
      sum += part[w][lane];
   if (of_bias)
      grad_bias[i] = sum;
   else
      grad_weight[i % (K * C) * taps + i / (K * C)] = sum;
}
