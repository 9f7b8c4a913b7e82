/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
launches:
  - kernel: zero
    grid: ceildiv(D, 64)
    block: 64
    args: grad_weight, D
  - kernel: rows
    grid: B * T
    block: 64
    args: grad_y, x, weight, grad_x, grad_weight, eps, D
*/
/* Each row adds to the weight's gradient. */
__global__ void zero(float *grad_weight, int D) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i < D)
      grad_weight[i] = 0;
}

__device__ float of_block(float v) {
   __shared__ float two[2];
   __syncthreads();
   for (int d = 16; d; d >>= 1)
      v += __shfl_xor_sync(0xffffffffu, v, d);
   if (threadIdx.x % 32 == 0)
      two[threadIdx.x / 32] = v;
   __syncthreads();
   return two[0] + two[1];
}

__global__ void rows(const float *grad_y, const float *x, const float *weight, float *grad_x, float *grad_weight, float eps, int D) {
   const long long at = (long long)blockIdx.x * D;
   float squares = 0, products = 0;
   for (int i = threadIdx.x; i < D; i += 64) {
      squares += x[at + i] * x[at + i];
      products += grad_y[at + i] * weight[i] * x[at + i];
   }
   const float r = rsqrtf(of_block(squares) / D + eps), pull = of_block(products) / D * r * r;
   for (int i = threadIdx.x; i < D; i += 64) {
      grad_x[at + i] = r * (grad_y[at + i] * weight[i] - x[at + i] * pull);
      atomicAdd(&grad_weight[i], grad_y[at + i] * (x[at + i] * r));
   }
}
