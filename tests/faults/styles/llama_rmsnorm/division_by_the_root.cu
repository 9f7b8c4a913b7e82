/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: root
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
/* A division by the square root, in this order of operations. */
__global__ void root(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      s += row[i] * row[i] / (float)D;
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float root = sqrtf(s + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] / root * weight[i];
}
