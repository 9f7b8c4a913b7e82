/* rkb-kernel: 1
task: mnist_pool
direction: forward
launches:
  - kernel: plane
    grid: C, N
    block: 16, 8
    args: x, y, H, W
*/
/* A block a plane, in two strided loops. */
__global__ void plane(const float *x, float *y, int H, int W) {
   const long long plane = (long long)blockIdx.y * gridDim.x + blockIdx.x;
   const float *in = x + plane * H * W;
   float *out = y + plane * (H / 2) * (W / 2);
   for (int p = threadIdx.y; p < H / 2; p += blockDim.y)
      for (int q = threadIdx.x; q < W / 2; q += blockDim.x) {
         float m = -__int_as_float(0x7f800000);
         for (int k = 0; k < 4; k++) {
            const float v = in[(2 * p + k / 2) * W + 2 * q + k % 2];
            m = isnan(m) || m > v ? m : v;
         }
         out[p * (W / 2) + q] = m;
      }
}
