/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  sums: {dtype: float32, shape: "B * T", init: zero}
launches:
  - kernel: squares
    grid: B * T, ceildiv(D, 512)
    block: 64
    args: x, sums, D
  - kernel: apply
    grid: B * T, ceildiv(D, 512)
    block: 64
    args: x, weight, sums, y, eps, D
*/
/* Several blocks a row add their sums of squares to one number. */
__global__ void squares(const float *x, float *sums, int D) {
   float s = 0;
   for (int i = blockIdx.y * 512 + threadIdx.x; i < min(D, (int)(blockIdx.y + 1) * 512); i += 64) {
      const float v = x[(long long)blockIdx.x * D + i];
      s += v * v;
   }
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x % 32 == 0)
      atomicAdd(&sums[blockIdx.x], s);
}

__global__ void apply(const float *x, const float *weight, const float *sums, float *y, float eps, int D) {
   const float r = rsqrtf(sums[blockIdx.x] / D + eps);
   for (int i = blockIdx.y * 512 + threadIdx.x; i < min(D, (int)(blockIdx.y + 1) * 512); i += 64)
      y[(long long)blockIdx.x * D + i] = x[(long long)blockIdx.x * D + i] * r * weight[i];
}
