/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
scratch:
  of_row: {dtype: float64, shape: "N"}
launches:
  - kernel: rows
    grid: N
    block: 32
    args: predictions, targets, of_row, C
  - kernel: mean
    grid: 1
    block: 32
    args: of_row, loss, N
*/
/* Rows in single precision, their mean in double. */
__global__ void rows(const float *predictions, const long long *targets, double *of_row, int C) {
   const float *row = predictions + (long long)blockIdx.x * C;
   float m = -__int_as_float(0x7f800000);
   double s = 0;
   for (int c = threadIdx.x; c < C; c += 32)
      m = fmaxf(m, row[c]);
   for (int d = 16; d; d >>= 1)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   for (int c = threadIdx.x; c < C; c += 32)
      s += expf(row[c] - m);
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x == 0)
      of_row[blockIdx.x] = (double)m + log(s) - row[targets[blockIdx.x]];
}

__global__ void mean(const double *of_row, float *loss, int N) {
   double s = 0;
   for (int n = threadIdx.x; n < N; n += 32)
      s += of_row[n];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x == 0)
      loss[0] = (float)(s / N);
}
