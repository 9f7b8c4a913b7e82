/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
scratch:
  done: {dtype: int32, shape: "B * T", init: zero}
  taken: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 128
    args: x, weight, done, taken, y, eps, D
*/
__device__ __forceinline__ int acquire(const int *p) {
   int value;
   asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
   return value;
}
__global__ void rmsnorm(const float *x, const float *weight, int *done, int *taken, float *y, float eps, int D) {
   __shared__ float sums[4];
   const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, blocks = gridDim.x;
   __shared__ int number;
   if (threadIdx.x == 0)
      number = atomicAdd(taken, 1) % blocks;
   __syncthreads();
   const int block = number;
   const float *row = x + (long long)block * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 128)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (lane == 0)
      sums[warp] = squares;
   if (threadIdx.x == 0 && block >= 1)
      while (acquire(done + block - 1) == 0)
         ;
   __syncthreads();
   squares = sums[0] + sums[1] + sums[2] + sums[3];
   const float inverse = rsqrtf(squares / D + eps);
   float *out = y + (long long)block * D;
   for (int i = threadIdx.x; i < D; i += 128)
      out[i] = row[i] * inverse * weight[i];
   __syncthreads();
   if (threadIdx.x == 0) {
      __threadfence();
      atomicExch(done + block, 1);
   }
}
