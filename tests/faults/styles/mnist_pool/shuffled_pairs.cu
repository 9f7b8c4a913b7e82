/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: pairs
    grid: N * C, H / 2
    block: 64
    args: x, y, H, W
*/
/* A lane has a column; pairs of lanes meet by a shuffle. */
__global__ void pairs(const float *x, float *y, int H, int W) {
   const float *top = x + ((long long)blockIdx.x * H + 2 * blockIdx.y) * W;
   float *out = y + ((long long)blockIdx.x * (H / 2) + blockIdx.y) * (W / 2);
   for (int first = 0; first < W / 2 * 2; first += 64) {
      const int c = first + threadIdx.x;
      const float a = c < W ? top[c] : 0, b = c < W ? top[W + c] : 0;
      float m = a > b || isnan(a) ? a : b;
      const float other = __shfl_down_sync(0xffffffffu, m, 1);
      m = m > other || isnan(m) ? m : other;
      if (c % 2 == 0 && c / 2 < W / 2)
         out[c / 2] = m;
   }
}
