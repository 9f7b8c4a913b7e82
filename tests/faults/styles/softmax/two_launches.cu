/* rkb-kernel: 1
task: softmax
direction: forward
scratch:
  largest: {dtype: float32, shape: "N"}
  total: {dtype: float32, shape: "N"}
launches:
  - kernel: statistics
    grid: N
    block: 32
    args: x, largest, total, D
  - kernel: apply
    grid: ceildiv(D, 128), N
    block: 128
    args: x, largest, total, y, D
*/
/* What a row needs goes through memory. */
__global__ void statistics(const float *x, float *largest, float *total, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0;
   for (int i = threadIdx.x; i < D; i += 32) {
      const float v = row[i], n = fmaxf(m, v);
      s = (m == n ? s : s * expf(m - n)) + expf(v - n);
      m = n;
   }
   for (int d = 16; d > 0; d >>= 1) {
      const float om = __shfl_xor_sync(0xffffffffu, m, d), os = __shfl_xor_sync(0xffffffffu, s, d), n = fmaxf(m, om);
      s = (s == 0 ? 0 : s * expf(m - n)) + (os == 0 ? 0 : os * expf(om - n));
      m = n;
   }
   if (threadIdx.x == 0) {
      largest[blockIdx.x] = m;
      total[blockIdx.x] = s;
   }
}

__global__ void apply(const float *x, const float *largest, const float *total, float *y, int D) {
   const int i = blockIdx.x * 128 + threadIdx.x, row = blockIdx.y;
   if (i < D)
      y[(long long)row * D + i] = expf(x[(long long)row * D + i] - largest[row]) / total[row];
}
