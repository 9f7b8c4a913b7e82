/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: indexed
    grid: N * C, H / 2, ceildiv(W / 2, 32)
    block: 32
    args: x, y, H, W
*/
/* Where the largest lies is found first, then read. */
__global__ void indexed(const float *x, float *y, int H, int W) {
   const int q = blockIdx.z * 32 + threadIdx.x;
   if (q >= W / 2)
      return;
   const long long corner = ((long long)blockIdx.x * H + 2 * blockIdx.y) * W + 2 * q;
   long long best = corner;
   const long long others[3] = {corner + 1, corner + W, corner + W + 1};
   for (int k = 0; k < 3; k++)
      if (x[others[k]] > x[best] || isnan(x[others[k]]))
         best = others[k];
   y[((long long)blockIdx.x * gridDim.y + blockIdx.y) * (W / 2) + q] = x[best];
}
