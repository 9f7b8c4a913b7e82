/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  inverse: {dtype: float32, shape: "B * T"}
launches:
  - kernel: rows
    grid: B * T
    block: 32
    args: x, inverse, eps, D
  - kernel: scale
    grid: B * T
    block: 32
    args: x, weight, y, inverse, D
*/

__global__ void rows(const float *x, float *inverse, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x == 0)
      inverse[blockIdx.x] = rsqrtf(squares / D + eps);
}

__global__ void scale(const float *x, const float *weight, float *y, const float *inverse, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * inverse[blockIdx.x] * weight[i];
}
