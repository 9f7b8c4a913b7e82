/* rkb-kernel: 1
task: unet_conv2d
direction: forward
tune:
  TILE_N: {default: 64, choices: [64, 128]}
  GROUPS: {default: 4, choices: [1, 2, 4]}
let:
  pixels: N * P * Q
  pitch: ceildiv(K, 4) * 4
  lines: ceildiv(C, 8) * 72
scratch:
  turned: {dtype: float32, shape: "lines, pitch"}
launches:
  - kernel: turn
    grid: ceildiv(lines * pitch, 256)
    block: 256
    args: weight, turned, K, C, 9, pitch, lines * pitch
  - kernel: convolution<TILE_N, GROUPS>
    grid: ceildiv(pixels, TILE_N), ceildiv(K, 64)
    block: TILE_N * GROUPS
    args: x, turned, bias, y, C, H, W, K, pitch, P, Q, stride, padding, pixels
*/

/* The convolution as a matrix product that never stores its matrix: weight (K x 9 C) times patches (9 C x pixels), the patches
 * gathered from the image while a tile is brought into shared memory.  The sum runs over eight channels at one tap of the window at a
 * time, so a pixel is inside the image or not for all eight; a first launch turns the weight to that order.
 *
 * A thread keeps 8 x 8 sums in registers and reads what it multiplies from shared memory as vectors, 16 numbers for 64
 * multiplications.  Where there are fewer tiles than the device holds, GROUPS groups of threads share a tile's channels. */

/* weight (rows x columns x taps) to turned (columns in eights, taps, 8, rows in fours), zero beyond either edge: what a tile of the
 * product needs then lies side by side. */
__global__ void __launch_bounds__(256) turn(const float *weight, float *turned, int rows, int columns, int taps, int pitch, int count) {
   const int i = blockIdx.x * 256 + threadIdx.x;
   if (i >= count)
      return;
   const int row = i % pitch, column = i / pitch / (8 * taps) * 8 + i / pitch % 8, tap = i / pitch / 8 % taps;
   turned[i] = row < rows && column < columns ? weight[((long long)row * columns + column) * taps + tap] : 0.0f;
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

template <int tile_n, int groups>
__global__ void __launch_bounds__(groups *tile_n, groups * tile_n > 256 ? 1 : 512 / (groups * tile_n))
   convolution(const float *__restrict__ x, const float *__restrict__ turned, const float *__restrict__ bias, float *__restrict__ y, int C, int H, int W, int K, int pitch, int P, int Q,
               int stride, int padding, int pixels) {
   constexpr int tile_m = 64, threads = tile_n;
   __shared__ __align__(16) union {
      Tiles<tile_m, tile_n> tiles[groups];
      float passed[groups == 1 ? 1 : 64 * threads];
   } shared;
   const int group = threadIdx.x / threads, thread = threadIdx.x % threads;
   const int first_channel = blockIdx.y * tile_m, first_pixel = blockIdx.x * tile_n;
   const int eights = (C + 7) / 8, share = (eights + groups - 1) / groups;
   float sum[8][8] = {};
   Weights<tile_m, threads> weights(turned, pitch, first_channel, eights * 9);
   Patches<tile_n, threads, 3> patches(x, C, H, W, P, Q, stride, padding, first_pixel, pixels, thread);
   const int row = first_row_of<tile_n>(thread), column = first_column_of<tile_n>(thread);
   weights.skip(group * share * 9);
   patches.skip(group * share);
   tile_product(sum, shared.tiles[group], weights, patches, share * 9,
                group * share < eights && first_channel + row / 32 * 32 < K && first_pixel + column / 64 * 64 < pixels, thread);
   join<threads, groups>(sum, shared.passed, group, thread);
   if (group > 0)
      return;
   const int size = P * Q;
#pragma unroll
   for (int j = 0; j < 8; j += 4) {
      const int pixel = first_pixel + column + column_offset(j);
      float *to = y + ((long long)(pixel / size) * K + first_channel + row) * size + pixel % size;
#pragma unroll
      for (int i = 0; i < 8; i++) {
         const int channel = first_channel + row + row_offset(i);
         if (channel >= K)
            continue;
         const float more = bias[channel];
         if (size % 4 == 0) {
            if (pixel < pixels)
               *(float4 *)(to + row_offset(i) * size) = make_float4(sum[i][j] + more, sum[i][j + 1] + more, sum[i][j + 2] + more, sum[i][j + 3] + more);
            continue;
         }
#pragma unroll
         for (int e = 0; e < 4; e++)
            if (pixel + e < pixels)
               y[((long long)((pixel + e) / size) * K + channel) * size + (pixel + e) % size] = sum[i][j + e] + more;
      }
   }
}
