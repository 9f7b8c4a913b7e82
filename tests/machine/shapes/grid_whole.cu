/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: ceildiv(B * T, 512)
    block: 512
    args: x, weight, y, eps, B * T, D
*/
// why: the same kernel with all of its blocks
// standing: accept
// says: "facet":"memory"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   const int at = blockIdx.x * blockDim.x + threadIdx.x;
   if (at >= rows)
      return;
   const float *row = x + (long long)at * D;
   float *out = y + (long long)at * D;
   float squares = 0.0f;
   for (int i = 0; i < D; i++)
      squares += row[i] * row[i];
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = 0; i < D; i++)
      out[i] = row[i] * inverse * weight[i];
}
