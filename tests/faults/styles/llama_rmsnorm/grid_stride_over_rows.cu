/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: strided
    grid: min(B * T, 108)
    block: 32
    args: x, weight, y, eps, B * T, D
*/
/* Blocks stride over rows; the weight is read backwards. */
__global__ void strided(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   for (int row = blockIdx.x; row < rows; row += gridDim.x) {
      const size_t base = (size_t)row * D;
      float s = 0;
      for (int i = threadIdx.x; i < D; i += 32)
         s += x[base + i] * x[base + i];
      for (int d = 16; d; d >>= 1)
         s += __shfl_xor_sync(0xffffffffu, s, d);
      s = rsqrtf(s / D + eps);
      for (int i = D - 1 - (int)threadIdx.x; i >= 0; i -= 32)
         y[base + i] = x[base + i] * s * weight[i];
   }
}
