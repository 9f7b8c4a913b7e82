/* rkb-kernel: 1
task: mnist_pool
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
  EACH: {default: 1, choices: [1, 2, 4]}
let:
  P: H / 2
  Q: W / 2
launches:
  - kernel: pool<BLOCK, EACH>
    grid: ceildiv(N * C * P * Q, BLOCK * EACH)
    block: BLOCK
    args: x, y, H, W, P, Q, N * C * P * Q
*/

/* A thread computes EACH results, a block's width apart so that neighbouring threads read neighbouring windows.  A NaN in the
 * window is the result, as in PyTorch. */

__device__ float larger(float best, float value) {
   return value > best || value != value ? value : best;
}

template <int block, int each>
__global__ void pool(const float *x, float *y, int height, int width, int out_height, int out_width, long long count) {
   for (int k = 0; k < each; k++) {
      const long long i = ((long long)blockIdx.x * each + k) * block + threadIdx.x;
      if (i >= count)
         return;
      const long long plane = i / (out_height * out_width);
      const int row = i / out_width % out_height * 2, column = i % out_width * 2;
      const float *window = x + (plane * height + row) * width + column;
      float best = larger(window[0], window[1]);
      best = larger(best, window[width]);
      y[i] = larger(best, window[width + 1]);
   }
}
