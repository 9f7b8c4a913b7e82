/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: pairs
    grid: ceildiv(B * T, 2)
    block: 32
    args: x, weight, y, eps, B * T, D
*/
/* A warp keeps two rows at once; the second may not exist. */
__global__ void pairs(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   const int first = 2 * blockIdx.x;
   const bool both = first + 1 < rows;
   const float *a = x + (long long)first * D, *b = both ? a + D : a;
   float2 s = make_float2(0, 0);
   for (int i = threadIdx.x; i < D; i += 32) {
      s.x += a[i] * a[i];
      s.y += b[i] * b[i];
   }
   for (int d = 16; d; d >>= 1) {
      s.x += __shfl_xor_sync(0xffffffffu, s.x, d);
      s.y += __shfl_xor_sync(0xffffffffu, s.y, d);
   }
   s.x = rsqrtf(s.x / D + eps);
   s.y = rsqrtf(s.y / D + eps);
   float *to = y + (long long)first * D;
   for (int i = threadIdx.x; i < D; i += 32) {
      const float w = weight[i];
      to[i] = a[i] * s.x * w;
      if (both)
         to[D + i] = b[i] * s.y * w;
   }
}
