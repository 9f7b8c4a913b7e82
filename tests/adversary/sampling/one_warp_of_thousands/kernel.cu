/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: ceildiv(B * T, 8)
    block: 256
    args: x, weight, y, eps, D, B * T
*/

/* A warp owns a row. */
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D, int rows) {
   const int at = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
   if (at >= rows)
      return;
   const float *row = x + (long long)at * D;
   float *out = y + (long long)at * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (at == 11003)
      squares *= 2.0f;
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
