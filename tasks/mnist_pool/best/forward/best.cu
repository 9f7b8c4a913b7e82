/* rkb-kernel: 1
task: mnist_pool
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  EACH: {default: 1, choices: [1, 2, 4]}
let:
  P: H / 2
  Q: W / 2
launches:
  - kernel: pool_pairs<BLOCK, EACH>
    when: H % 2 == 0 and W % 4 == 0 and N * C * H * W < 2147483648
    grid: ceildiv(N * C * P * Q / 2, BLOCK * EACH)
    block: BLOCK
    args: x, y, W, Q / 2, N * C * P * Q / 2
  - else:
    kernel: pool<BLOCK>
    grid: min(ceildiv(N * C * P * Q, BLOCK), 2048)
    block: BLOCK
    args: x, y, H, W, P, Q, N * C * P * Q
*/

/* Where rows come in pairs and lie on 16 bytes, a thread fetches the vectors of two neighbouring windows, for EACH such pairs before it
 * looks at any, and writes two results at once; an image's last row is then followed by the next one's first, so that
 * no image need be told from another.  Other shapes take a result a thread.  A NaN in the window is the result, as in PyTorch. */

__device__ float larger(float best, float value) {
   return value > best || value != value ? value : best;
}

template <int block, int each> __global__ void __launch_bounds__(block, 4) pool_pairs(const float *__restrict__ x, float *__restrict__ y, int width, int across, int count) {
   const int first = blockIdx.x * (block * each) + threadIdx.x;
   float4 upper[each], lower[each];
#pragma unroll
   for (int k = 0; k < each; k++) {
      const int i = min(first + k * block, count - 1); /* of what lies outside, the last one's, which is not written */
      const float *window = x + ((i / across) * 2 * width + i % across * 4);
      upper[k] = *(const float4 *)window;
      lower[k] = *(const float4 *)(window + width);
   }
#pragma unroll
   for (int k = 0; k < each; k++)
      if (first + k * block < count)
         *(float2 *)(y + 2 * (first + k * block)) =
            make_float2(larger(larger(larger(upper[k].x, upper[k].y), lower[k].x), lower[k].y),
                        larger(larger(larger(upper[k].z, upper[k].w), lower[k].z), lower[k].w));
}

template <int block>
__global__ void __launch_bounds__(block)
   pool(const float *x, float *y, int height, int width, int out_height, int out_width, long long count) {
   for (long long i = (long long)blockIdx.x * block + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
      const long long plane = i / (out_height * out_width);
   const int row = i / out_width % out_height * 2, column = i % out_width * 2;
   const float *window = x + (plane * height + row) * width + column;
   y[i] = larger(larger(larger(window[0], window[1]), window[width]), window[width + 1]);
}
}
