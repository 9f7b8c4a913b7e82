/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: kernel
    grid: B * T
    block: 64
    args: x, weight, y, eps, D
*/

__global__ void kernel(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float part[64];
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 64)
      squares += row[i] * row[i];
   part[threadIdx.x] = squares;
   float sum = 0.0f;
   for (int i = 0; i < 64; i++)
      sum += part[i];
   const float inverse = rsqrtf(sum / D + eps);
   for (int i = threadIdx.x; i < D; i += 64)
      y[(long long)blockIdx.x * D + i] = row[i] * inverse * weight[i];
}
