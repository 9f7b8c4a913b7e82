/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  scale: {dtype: float32, shape: "B * T"}
launches:
  - kernel: scales
    grid: ceildiv(B * T, 4)
    block: 128
    args: x, scale, eps, B * T, D
  - kernel: apply
    grid: ceildiv(B * T * D, 256)
    block: 256
    args: x, weight, scale, y, B * T * D, D
*/
/* Scales of rows first; then a flat loop over elements that divides to find the row. */
__global__ void scales(const float *x, float *scale, float eps, int rows, int D) {
   const int row = blockIdx.x * 4 + threadIdx.x / 32;
   if (row >= rows)
      return;
   float s = 0;
   for (int i = threadIdx.x % 32; i < D; i += 32) {
      const float v = x[(long long)row * D + i];
      s += v * v;
   }
   for (int d = 16; d; d >>= 1)
      s += __shfl_down_sync(0xffffffffu, s, d);
   if (threadIdx.x % 32 == 0)
      scale[row] = rsqrtf(s / D + eps);
}

__global__ void apply(const float *x, const float *weight, const float *scale, float *y, long long count, int D) {
   const long long i = (long long)blockIdx.x * 256 + threadIdx.x;
   if (i < count)
      y[i] = x[i] * scale[i / D] * weight[i % D];
}
