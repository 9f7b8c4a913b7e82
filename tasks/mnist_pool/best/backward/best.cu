/* rkb-kernel: 1
task: mnist_pool
direction: backward
tune:
  BLOCK: {default: 128, choices: [64, 128, 256, 512]}
  EACH: {default: 2, choices: [1, 2, 4]}
let:
  P: ceildiv(H, 2)
  Q: ceildiv(W, 2)
launches:
  - kernel: pool_grad_pairs<BLOCK, EACH>
    when: H % 2 == 0 and W % 4 == 0 and N * C * H * W < 2147483648
    grid: ceildiv(N * C * P * Q / 2, BLOCK * EACH)
    block: BLOCK
    args: grad_y, x, grad_x, W, Q / 2, N * C * P * Q / 2
  - else:
    kernel: pool_grad<BLOCK>
    grid: min(ceildiv(N * C * P * Q, BLOCK), 2048)
    block: BLOCK
    args: grad_y, x, grad_x, H, W, N * C * P * Q
*/

/* grad_x is the gradient at a window's first largest value in reading order, zero elsewhere.  Where rows come in pairs and lie on 16
 * bytes, a thread owns two neighbouring windows and moves them as vectors, for EACH such pairs before it looks at any; an
 * image's last row is then followed by the next one's first, so that no image need be told from another.  In other shapes a thread owns one window;
 * where height or width is odd, the last row or column lies in a cut window, which has no output: zeros. */

/* Where in the window a, b / c, d the gradient goes: 0 to 3. */
__device__ int winner_of(float a, float b, float c, float d) {
   int winner = 0;
   float best = a;
   if (b > best || b != b) {
      best = b;
      winner = 1;
   }
   if (c > best || c != c) {
      best = c;
      winner = 2;
   }
   return d > best || d != d ? 3 : winner;
}

template <int block, int each>
__global__ void __launch_bounds__(block) pool_grad_pairs(const float *__restrict__ grad_y, const float *__restrict__ x, float *__restrict__ grad_x, int width, int across, int count) {
   const int first = blockIdx.x * (block * each) + threadIdx.x;
   float4 upper[each], lower[each];
   float2 grad[each];
   int at[each];
#pragma unroll
   for (int k = 0; k < each; k++) {
      const int i = min(first + k * block, count - 1); /* of what lies outside, the last one's, which is not written */
      at[k] = i / across * 2 * width + i % across * 4;
      upper[k] = *(const float4 *)(x + at[k]);
      lower[k] = *(const float4 *)(x + at[k] + width);
      grad[k] = *(const float2 *)(grad_y + 2 * i);
   }
#pragma unroll
   for (int k = 0; k < each; k++) {
      if (first + k * block >= count)
         continue;
      const int left = winner_of(upper[k].x, upper[k].y, lower[k].x, lower[k].y);
      const int right = winner_of(upper[k].z, upper[k].w, lower[k].z, lower[k].w);
      *(float4 *)(grad_x + at[k]) = make_float4(left == 0 ? grad[k].x : 0.0f, left == 1 ? grad[k].x : 0.0f,
                                                right == 0 ? grad[k].y : 0.0f, right == 1 ? grad[k].y : 0.0f);
      *(float4 *)(grad_x + at[k] + width) = make_float4(left == 2 ? grad[k].x : 0.0f, left == 3 ? grad[k].x : 0.0f,
                                                        right == 2 ? grad[k].y : 0.0f, right == 3 ? grad[k].y : 0.0f);
   }
}

template <int block>
__global__ void __launch_bounds__(block)
   pool_grad(const float *grad_y, const float *x, float *grad_x, int height, int width, long long count) {
   for (long long i = (long long)blockIdx.x * block + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
      const int down = (height + 1) / 2, across = (width + 1) / 2;
   const long long plane = i / (down * across);
   const int row = i / across % down * 2, column = i % across * 2;
   const long long first = (plane * height + row) * width + column;
   int winner = -1;
   float grad = 0.0f;
   if (row + 1 < height && column + 1 < width) {
      winner = winner_of(x[first], x[first + 1], x[first + width], __ldg(&x[first + width + 1]));
      grad = grad_y[(plane * (height / 2) + row / 2) * (width / 2) + column / 2];
   }
   for (int k = 0; k < 4; k++)
      if (row + k / 2 < height && column + k % 2 < width)
         grad_x[first + k / 2 * width + k % 2] = k == winner ? grad : 0.0f;
}
}
