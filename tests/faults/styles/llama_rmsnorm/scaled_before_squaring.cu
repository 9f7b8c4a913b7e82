/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: scaled
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
/* Squares are taken of numbers divided by the row's largest, so that none overflows. */
__global__ void scaled(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float m = 0, s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      m = fmaxf(m, fabsf(row[i]));
   for (int d = 16; d; d >>= 1)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   const int power = m > 0 ? -ilogbf(m) : 0;
   const float unit = ldexpf(1.0f, max(-100, min(100, power)));
   for (int i = threadIdx.x; i < D; i += 32)
      s += row[i] * unit * (row[i] * unit);
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float r = rsqrtf(s / D / unit / unit + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}
