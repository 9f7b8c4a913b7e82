/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: sums
    grid: ceildiv(N * C * (H / 2) * (W / 2), 96)
    block: 96
    args: x, y, H, W, N * C * (H / 2) * (W / 2)
*/
/* fmaxf for the numbers; a sum of differences says whether one is NaN. */
__global__ void sums(const float *x, float *y, int H, int W, int count) {
   const int i = blockIdx.x * 96 + threadIdx.x;
   if (i >= count)
      return;
   const int q = i % (W / 2), p = i / (W / 2) % (H / 2), plane = i / (W / 2) / (H / 2);
   const float *at = x + ((long long)plane * H + 2 * p) * W + 2 * q;
   const float a = at[0], b = at[1], c = at[W], d = at[W + 1];
   const bool none = isnan(a) || isnan(b) || isnan(c) || isnan(d);
   y[i] = none ? __int_as_float(0x7fffffff) : fmaxf(fmaxf(a, b), fmaxf(c, d));
}
