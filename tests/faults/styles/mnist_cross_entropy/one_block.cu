/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
launches:
  - kernel: everything
    grid: 1
    block: 256
    args: predictions, targets, loss, N, C
*/
/* One block does everything: a warp a row, then a sum over warps. */
__global__ void everything(const float *predictions, const long long *targets, float *loss, int N, int C) {
   __shared__ float of_warp[8];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
   float total = 0;
   for (int n = warp; n < N; n += 8) {
      const float *row = predictions + (long long)n * C;
      float m = -__int_as_float(0x7f800000), s = 0;
      for (int c = lane; c < C; c += 32)
         m = fmaxf(m, row[c]);
      for (int d = 16; d; d >>= 1)
         m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
      for (int c = lane; c < C; c += 32)
         s += expf(row[c] - m);
      for (int d = 16; d; d >>= 1)
         s += __shfl_xor_sync(0xffffffffu, s, d);
      total += logf(s) - (row[targets[n]] - m);
   }
   if (lane == 0)
      of_warp[warp] = total;
   __syncthreads();
   if (threadIdx.x == 0) {
      total = 0;
      for (int w = 0; w < 8; w++)
         total += of_warp[w];
      *loss = total / N;
   }
}
