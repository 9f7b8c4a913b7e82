/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  inverse: {dtype: float32, shape: "B * T"}
  arrived: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: rmsnorm
    grid: 12
    block: 128
    cooperative: true
    args: x, weight, y, inverse, arrived, eps, B * T, D
*/
// why: blocks that meet in a barrier across the grid are executed side by side; that they all run is an assumption
// standing: accept
// says: blocks that wait for each other are on the device at once
// says: "orders":["ascending","descending","shuffled"]
// never: "schedules":"one"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float *inverse, int *arrived, float eps, int rows, int D) {
   const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, warps = gridDim.x * 4;
   for (int row = warp; row < rows; row += warps) {
      float squares = 0.0f;
      for (int i = lane; i < D; i += 32)
         squares += x[(long long)row * D + i] * x[(long long)row * D + i];
      for (int distance = 16; distance > 0; distance /= 2)
         squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      if (lane == 0)
         inverse[row] = rsqrtf(squares / D + eps);
   }
   __syncthreads();
   if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (*(volatile int *)arrived < gridDim.x)
         ;
      __threadfence();
   }
   __syncthreads();
   for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < (long long)rows * D; i += gridDim.x * blockDim.x)
      y[i] = x[i] * inverse[i / D] * weight[i % D];
}
