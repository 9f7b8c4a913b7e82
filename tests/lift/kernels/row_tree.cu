/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rmsnorm
    grid: rows
    block: 256
    args: x, weight, y, eps, D
*/

/* A block computes a row: the squares are added in halves of shared memory, and thread 0 tells the others the factor. */

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float part[256];
   __shared__ float factor;
   const int tid = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = tid; i < D; i += blockDim.x)
      squares += row[i] * row[i];
   part[tid] = squares;
   __syncthreads();
   for (int half = blockDim.x / 2; half > 0; half >>= 1) {
      if (tid < half)
         part[tid] += part[tid + half];
      __syncthreads();
   }
   if (tid == 0)
      factor = rsqrtf(part[0] / D + eps);
   __syncthreads();
   for (int i = tid; i < D; i += blockDim.x)
      y[(long long)blockIdx.x * D + i] = row[i] * factor * weight[i];
}
