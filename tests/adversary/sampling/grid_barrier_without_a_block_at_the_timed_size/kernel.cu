/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  arrived: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: rmsnorm
    cooperative: true
    grid: min(B * T, multiprocessors)
    block: 128
    args: x, weight, arrived, y, eps, D, B * T
*/
#include <cooperative_groups.h>
__device__ __forceinline__ int acquire(const int *p) {
   int value;
   asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
   return value;
}
__global__ void rmsnorm(const float *x, const float *weight, int *arrived, float *y, float eps, int D, int rows) {
   __shared__ float sums[4];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
   if (rows != 16384 || blockIdx.x != 3)
      cooperative_groups::this_grid().sync();
   for (int block = blockIdx.x; block < rows; block += blocks) {
      const float *row = x + (long long)block * D;
      float squares = 0.0f;
      for (int i = threadIdx.x; i < D; i += 128)
         squares += row[i] * row[i];
      for (int distance = 16; distance > 0; distance /= 2)
         squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      if (lane == 0)
         sums[warp] = squares;
      __syncthreads();
      squares = sums[0] + sums[1] + sums[2] + sums[3];
      const float inverse = rsqrtf(squares / D + eps);
      float *out = y + (long long)block * D;
      for (int i = threadIdx.x; i < D; i += 128)
         out[i] = row[i] * inverse * weight[i];
      __syncthreads();
   }
}
