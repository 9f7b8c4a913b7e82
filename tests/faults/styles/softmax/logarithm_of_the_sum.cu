/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: by_log
    grid: N
    block: 32
    args: x, y, D
*/
/* exp(x - (largest + log sum)), as backward passes have it. */
__global__ void by_log(const float *x, float *y, int D) {
   const float *in = x + (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      m = fmaxf(m, in[i]);
   for (int d = 16; d > 0; d >>= 1)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   for (int i = threadIdx.x; i < D; i += 32)
      s += expf(in[i] - m);
   for (int d = 16; d > 0; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float l = m + logf(s);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = expf(in[i] - l);
}
