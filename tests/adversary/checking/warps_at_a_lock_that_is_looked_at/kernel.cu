/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 128
    args: x, weight, y, eps, D
*/
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float sum;
   __shared__ int lock;
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   if (threadIdx.x == 0)
      sum = 0.0f, lock = 0;
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += 128)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x % 32 == 0) {
      while (atomicAdd(&lock, 0) != 0)
         ;
      atomicExch(&lock, 1);
      __threadfence_block();
      const float before = atomicAdd(&sum, 0.0f);
      atomicExch(&sum, before + squares);
      __threadfence_block();
      atomicExch(&lock, 0);
   }
   __syncthreads();
   const float inverse = rsqrtf(sum / D + eps);
   float *out = y + (long long)blockIdx.x * D;
   for (int i = threadIdx.x; i < D; i += 128)
      out[i] = row[i] * inverse * weight[i];
}
