/* rkb-kernel: 1
task: bf16_conv2d
direction: forward
launches:
  - kernel: convolve
    grid: ceildiv(N * P * Q, 64), ceildiv(K, 64)
    block: 128
    args: x, weight, y, N, H, W, C, K, P, Q, window, stride, padding
*/

/* An implicit matrix product: rows are the result's pixels, columns its channels, and the depth runs over the window and the image's
 * channels, which lie together in both tensors.  A block computes 64 pixels by 64 channels; its four warps take 16 pixels each and
 * multiply with the tensor cores, through wmma.  Sums are fp32 and are rounded once. */

#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int tile = 64, depth = 32, pitch = depth + 8;

__global__ void __launch_bounds__(128)
   convolve(const __nv_bfloat16 *x, const __nv_bfloat16 *weight, __nv_bfloat16 *y, int N, int H, int W, int C, int K, int P, int Q,
            int window, int stride, int padding) {
   __shared__ alignas(32) __nv_bfloat16 pixels[tile * pitch], windows[tile * pitch];
   __shared__ alignas(32) float laid_out[4][16][16];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * tile, channel = blockIdx.y * tile;
   const int count = N * P * Q, deep = window * window * C;
   wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
   for (int j = 0; j < 4; j++)
      wmma::fill_fragment(sums[j], 0.0f);
   for (int k = 0; k < deep; k += depth) {
      for (int i = threadIdx.x; i < tile * depth; i += 128) {
         const int r = i / depth, at = k + i % depth, pixel = first + r, o = channel + r;
         const int c = at % C, place = at / C, q = pixel % Q, p = pixel / Q % P, n = pixel / Q / P;
         const int h = p * stride - padding + place / window, w = q * stride - padding + place % window;
         const bool inside = at < deep && pixel < count && h >= 0 && h < H && w >= 0 && w < W;
         pixels[r * pitch + i % depth] = inside ? x[(((long long)n * H + h) * W + w) * C + c] : __float2bfloat16(0.0f);
         windows[r * pitch + i % depth] = at < deep && o < K ? weight[(long long)o * deep + at] : __float2bfloat16(0.0f);
      }
      __syncthreads();
      for (int part = 0; part < depth; part += 16) {
         wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> own;
         wmma::load_matrix_sync(own, &pixels[warp * 16 * pitch + part], pitch);
         for (int j = 0; j < 4; j++) {
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> other;
            wmma::load_matrix_sync(other, &windows[j * 16 * pitch + part], pitch);
            wmma::mma_sync(sums[j], own, other, sums[j]);
         }
      }
      __syncthreads();
   }
   for (int j = 0; j < 4; j++) {
      wmma::store_matrix_sync(&laid_out[warp][0][0], sums[j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int i = lane; i < 256; i += 32) {
         const int pixel = first + warp * 16 + i / 16, o = channel + j * 16 + i % 16;
         if (pixel < count && o < K)
            y[(long long)pixel * K + o] = __float2bfloat16(laid_out[warp][i / 16][i % 16]);
      }
      __syncwarp();
   }
}
