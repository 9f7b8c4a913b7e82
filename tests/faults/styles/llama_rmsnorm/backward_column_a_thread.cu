/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
scratch:
  root: {dtype: float32, shape: "B * T"}
launches:
  - kernel: roots
    grid: B * T
    block: 32
    args: x, root, eps, D
  - kernel: inputs
    grid: B * T
    block: 32
    args: grad_y, x, weight, root, grad_x, D
  - kernel: weights
    grid: ceildiv(D, 32)
    block: 32
    args: grad_y, x, root, grad_weight, B * T, D
*/
/* The weight's gradient by a thread a column, over all rows. */
__device__ float of_warp(float v) {
   for (int d = 16; d; d >>= 1)
      v += __shfl_xor_sync(0xffffffffu, v, d);
   return v;
}

__global__ void roots(const float *x, float *root, float eps, int D) {
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      s += x[(long long)blockIdx.x * D + i] * x[(long long)blockIdx.x * D + i];
   s = of_warp(s);
   if (threadIdx.x == 0)
      root[blockIdx.x] = rsqrtf(s / D + eps);
}

__global__ void inputs(const float *grad_y, const float *x, const float *weight, const float *root, float *grad_x, int D) {
   const long long at = (long long)blockIdx.x * D;
   const float r = root[blockIdx.x];
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      s += grad_y[at + i] * weight[i] * x[at + i];
   s = of_warp(s) * r * r * r / D;
   for (int i = threadIdx.x; i < D; i += 32)
      grad_x[at + i] = grad_y[at + i] * weight[i] * r - x[at + i] * s;
}

__global__ void weights(const float *grad_y, const float *x, const float *root, float *grad_weight, int rows, int D) {
   const int i = blockIdx.x * 32 + threadIdx.x;
   float s = 0;
   if (i >= D)
      return;
   for (int row = 0; row < rows; row++)
      s += grad_y[(long long)row * D + i] * x[(long long)row * D + i] * root[row];
   grad_weight[i] = s;
}
