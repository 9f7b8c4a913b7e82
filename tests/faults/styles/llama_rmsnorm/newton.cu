/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: newton
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
/* The root by an integer guess and four steps of Newton's. */
__global__ void newton(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      s += row[i] * row[i];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float v = s / D + eps;
   float r = __int_as_float(0x5f3759df - (__float_as_int(v) >> 1));
   for (int step = 0; step < 4; step++)
      r = r * (1.5f - 0.5f * v * r * r);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}
