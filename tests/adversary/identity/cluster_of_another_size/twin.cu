/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    cluster: 2
    grid: ceildiv(B * T, 2) * 2
    block: 32
    args: x, weight, y, eps, D, B * T
*/

/* A block a row; the blocks of a cluster only start together. */
__global__ void __cluster_dims__(2, 1, 1) rmsnorm(const float *x, const float *weight, float *y, float eps, int D, int rows) {
   if (blockIdx.x >= rows)
      return;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
