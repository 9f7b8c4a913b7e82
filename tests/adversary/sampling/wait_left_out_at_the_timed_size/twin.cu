/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  sums: {dtype: float32, shape: "B * T"}
launches:
  - kernel: squares
    grid: B * T
    block: 32
    args: x, sums, D
  - kernel: scale
    dependent: true
    grid: B * T
    block: 32
    args: x, weight, y, sums, eps, D
*/
__global__ void squares(const float *x, float *sums, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x == 0)
      sums[blockIdx.x] = squares;
}
__device__ __forceinline__ void grid_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
__global__ void scale(const float *x, const float *weight, float *y, float *sums, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   const bool large = (long long)gridDim.x * D > 60000000;
   grid_wait();
   const float sum = ((volatile float *)sums)[blockIdx.x];
   const float inverse = rsqrtf(sum / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
