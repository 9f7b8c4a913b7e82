/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: staged
    grid: B * T
    block: 128
    args: x, weight, y, eps, D
    shared: 4 * D
    when: D <= 8192
  - kernel: direct
    grid: B * T
    block: 128
    args: x, weight, y, eps, D
    when: D > 8192
*/
/* The row waits in dynamic shared memory where it fits. */
__device__ float sum_of_block(float s) {
   __shared__ float warps[4];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (threadIdx.x % 32 == 0)
      warps[threadIdx.x / 32] = s;
   __syncthreads();
   return warps[0] + warps[1] + (warps[2] + warps[3]);
}

__global__ void staged(const float *x, const float *weight, float *y, float eps, int D) {
   extern __shared__ float row[];
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 128) {
      row[i] = x[(long long)blockIdx.x * D + i];
      s += row[i] * row[i];
   }
   const float r = rsqrtf(sum_of_block(s) / D + eps);
   for (int i = threadIdx.x; i < D; i += 128)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}

__global__ void direct(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   for (int i = threadIdx.x; i < D; i += 128)
      s += row[i] * row[i];
   const float r = rsqrtf(sum_of_block(s) / D + eps);
   for (int i = threadIdx.x; i < D; i += 128)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}
