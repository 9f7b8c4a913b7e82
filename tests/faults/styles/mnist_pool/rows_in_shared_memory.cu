/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: staged
    grid: N * C, H / 2
    block: 32
    args: x, y, H, W
*/
/* Two rows wait in shared memory. */
__global__ void staged(const float *x, float *y, int H, int W) {
   __shared__ float rows[2][256];
   const float *top = x + ((long long)blockIdx.x * H + 2 * blockIdx.y) * W;
   for (int i = threadIdx.x; i < 2 * W; i += 32)
      rows[i / W][i % W] = top[i];
   __syncthreads();
   for (int q = threadIdx.x; q < W / 2; q += 32) {
      float m = rows[0][2 * q];
      m = rows[0][2 * q + 1] > m || isnan(rows[0][2 * q + 1]) ? rows[0][2 * q + 1] : m;
      m = rows[1][2 * q] > m || isnan(rows[1][2 * q]) ? rows[1][2 * q] : m;
      m = rows[1][2 * q + 1] > m || isnan(rows[1][2 * q + 1]) ? rows[1][2 * q + 1] : m;
      y[((long long)blockIdx.x * (H / 2) + blockIdx.y) * (W / 2) + q] = m;
   }
}
