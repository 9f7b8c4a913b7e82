/* rkb-kernel: 1
task: softmax
direction: backward
launches:
  - kernel: wide
    grid: ceildiv(N, 32)
    block: 32
    args: grad_y, x, grad_x, N, D
*/
/* A thread a row, in double precision. */
__global__ void wide(const float *grad_y, const float *x, float *grad_x, int N, int D) {
   const long long row = blockIdx.x * 32ll + threadIdx.x;
   if (row >= N)
      return;
   double m = x[row * D], s = 0, p = 0;
   for (int i = 1; i < D; i++)
      m = fmax(m, (double)x[row * D + i]);
   for (int i = 0; i < D; i++) {
      const double e = exp(x[row * D + i] - m);
      s += e;
      p += e * grad_y[row * D + i];
   }
   for (int i = 0; i < D; i++)
      grad_x[row * D + i] = (float)(exp(x[row * D + i] - m) / s * (grad_y[row * D + i] - p / s));
}
