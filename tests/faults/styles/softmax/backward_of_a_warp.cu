/* rkb-kernel: 1
task: softmax
direction: backward
launches:
  - kernel: warp
    grid: N
    block: 32
    args: grad_y, x, grad_x, D
*/
/* Shares are made again for each use. */
__global__ void warp(const float *grad_y, const float *x, float *grad_x, int D) {
   const long long at = (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0, p = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      m = fmaxf(m, x[at + i]);
   for (int d = 16; d; d >>= 1)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   for (int i = threadIdx.x; i < D; i += 32)
      s += expf(x[at + i] - m);
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   for (int i = threadIdx.x; i < D; i += 32)
      p += expf(x[at + i] - m) / s * grad_y[at + i];
   for (int d = 16; d; d >>= 1)
      p += __shfl_xor_sync(0xffffffffu, p, d);
   for (int i = threadIdx.x; i < D; i += 32)
      grad_x[at + i] = expf(x[at + i] - m) / s * (grad_y[at + i] - p);
}
