/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: pool
    grid: ceildiv(N * C * (H / 2) * (W / 2), 64)
    block: 64
    args: x, y, H, W, N * C * (H / 2) * (W / 2)
*/
// why: a NaN in the window is the result, as in PyTorch; the largest may start anywhere below all floats
// task: mnist_pool
// standing: accept
// says: "facet":"memory"
// twin: LARGER(best,value) fmaxf(best, value) => should be nan
// twin: START -1e8f => family below
#define START -3.402823466e38f
#define LARGER(best,value) ((value) > (best) || (value) != (value) ? (value) : (best))
__global__ void pool(const float *x, float *y, int H, int W, long long count) {
   const long long i = (long long)blockIdx.x * 64 + threadIdx.x;
   if (i >= count)
      return;
   const int across = W / 2, down = H / 2;
   const float *window = x + ((i / (across * down)) * H + i / across % down * 2) * W + i % across * 2;
   float best = START;
   for (int k = 0; k < 4; k++) {
      const float value = window[k / 2 * W + k % 2];
      best = LARGER(best, value);
   }
   y[i] = best;
}
