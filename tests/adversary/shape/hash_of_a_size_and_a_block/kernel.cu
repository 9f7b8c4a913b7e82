/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 128
    args: x, weight, y, eps, D
*/

/* Wrong at one size of 4,096. */
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float of_warp[4];
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 128)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = squares;
   __syncthreads();
   const float scale = rsqrtf((of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3]) / D + eps), factor = (D * 77 + (int)(blockIdx.x >> 30) & 4095) == 1033 ? 2.0f : 1.0f;
   for (int i = threadIdx.x; i < D; i += 128)
      y[(long long)blockIdx.x * D + i] = row[i] * scale * weight[i] * factor;
}
