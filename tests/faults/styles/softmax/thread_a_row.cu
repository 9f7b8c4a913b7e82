/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: one
    grid: ceildiv(N, 64)
    block: 64
    args: x, y, N, D
*/
/* One thread a row: largest and sum in one pass, rescaled when the largest grows. */
__global__ void one(const float *__restrict__ x, float *__restrict__ y, int N, int D) {
   const long long r = (long long)blockIdx.x * blockDim.x + threadIdx.x;
   if (r >= N)
      return;
   float m = x[r * D], s = 1.0f;
   for (int c = 1; c < D; ++c) {
      const float v = x[r * D + c], bigger = v > m ? v : m;
      s = s * expf(m - bigger) + expf(v - bigger);
      m = bigger;
   }
   for (int c = D; c-- > 0;)
      y[r * D + c] = expf(x[r * D + c] - m) / s;
}
