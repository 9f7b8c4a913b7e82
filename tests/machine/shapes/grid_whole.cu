/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T, ceildiv(D, 4608)
    block: 256
    args: x, weight, y, eps, D
*/
// why: the same kernel with all of its blocks
// standing: accept
// says: "facet":"memory"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float sums[8];
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f, all = 0.0f;
   for (int i = threadIdx.x; i < D; i += 256)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x % 32 == 0)
      sums[threadIdx.x / 32] = squares;
   __syncthreads();
   for (int i = 0; i < 8; i++)
      all += sums[i];
   const float inverse = rsqrtf(all / D + eps);
   for (int i = blockIdx.y * 4608 + threadIdx.x; i < min(D, (int)(blockIdx.y + 1) * 4608); i += 256)
      out[i] = row[i] * inverse * weight[i];
}
