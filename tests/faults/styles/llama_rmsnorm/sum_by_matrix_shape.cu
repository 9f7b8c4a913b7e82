/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: folded
    grid: B * T
    block: 8, 4
    args: x, weight, y, eps, D
*/
/* A warp as a grid of 8 by 4 lanes, joined along one side and then the other. */
__global__ void folded(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   for (int i = threadIdx.y; i < D; i += 4)
      if ((i / 4) % 8 == threadIdx.x)
         s += row[i] * row[i];
   for (int d = 1; d < 8; d *= 2)
      s += __shfl_xor_sync(0xffffffffu, s, d, 8);
   s += __shfl_xor_sync(0xffffffffu, s, 8);
   s += __shfl_xor_sync(0xffffffffu, s, 16);
   const float r = rsqrtf(s / D + eps);
   for (int i = threadIdx.y * 8 + threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}
