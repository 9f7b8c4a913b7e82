/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x % 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += blockDim.x)
      squares += row[i] * row[i];
   __shared__ float total;
   for (int d = 1; d < 32; d *= 2) {
      const float o = __shfl_up_sync(0xffffffffu, squares, d);
      if (lane >= d) squares += o;
   }
   if (lane == 31)
      atomicExch(&total, squares);
   __syncwarp();
   squares = total;
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += blockDim.x)
      out[i] = row[i] * inverse * weight[i];

}
