/* rkb-kernel: 1
task: mnist_pool
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
let:
  P: ceildiv(H, 2)
  Q: ceildiv(W, 2)
launches:
  - kernel: pool_grad<BLOCK>
    grid: ceildiv(N * C * P * Q, BLOCK)
    block: BLOCK
    args: grad_y, x, grad_x, H, W, N * C * P * Q
*/

/* A thread owns one window and writes all its grad_x: the gradient at the first largest value in reading order, zero elsewhere.
 * Where height or width is odd, the last row or column lies in a cut window, which has no output: zeros. */

template <int block>
__global__ void pool_grad(const float *grad_y, const float *x, float *grad_x, int height, int width, long long count) {
   const long long i = (long long)blockIdx.x * block + threadIdx.x;
   if (i >= count)
      return;
   const int down = (height + 1) / 2, across = (width + 1) / 2;
   const long long plane = i / (down * across);
   const int row = i / across % down * 2, column = i % across * 2;
   const long long first = (plane * height + row) * width + column;

   const bool whole = row + 1 < height && column + 1 < width;
   int winner = -1;
   float grad = 0.0f;
   if (whole) {
      float best = x[first];
      winner = 0;
      for (int k = 1; k < 4; k++) {
         const float value = x[first + k / 2 * width + k % 2];
         if (value > best || value != value) {
            best = value;
            winner = k;
         }
      }
      grad = grad_y[(plane * (height / 2) + row / 2) * (width / 2) + column / 2];
   }
   for (int k = 0; k < 4; k++)
      if (row + k / 2 < height && column + k % 2 < width)
         grad_x[first + k / 2 * width + k % 2] = k == winner ? grad : 0.0f;
}
