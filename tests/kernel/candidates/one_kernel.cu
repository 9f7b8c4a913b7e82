/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
launches:
  - kernel: rmsnorm
    grid: B * T
    block: BLOCK
    args: x, weight, y, eps, D
*/

extern "C" __global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float partial[BLOCK];
   const float *row = x + (size_t)blockIdx.x * D;
   float sum = 0;
   for (int i = threadIdx.x; i < D; i += BLOCK)
      sum += row[i] * row[i];
   partial[threadIdx.x] = sum;
   __syncthreads();
   for (int half = BLOCK / 2; half; half /= 2) {
      if (threadIdx.x < half)
         partial[threadIdx.x] += partial[threadIdx.x + half];
      __syncthreads();
   }
   const float scale = rsqrtf(partial[0] / D + eps);
   for (int i = threadIdx.x; i < D; i += BLOCK)
      y[(size_t)blockIdx.x * D + i] = row[i] * scale * weight[i];
}
