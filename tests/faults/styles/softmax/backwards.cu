/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: backwards
    grid: ceildiv(N, 4)
    block: 32, 4
    args: x, y, N, D
*/
/* Pointers that walk from the end to the begin; four warps a block, one row each. */
__global__ void backwards(const float *x, float *y, int N, int D) {
   const int row = blockIdx.x * 4 + threadIdx.y;
   if (row >= N)
      return;
   const float *begin = x + (long long)row * D, *p;
   float m = -__int_as_float(0x7f800000), s = 0.f;
   for (p = begin + D - 1 - (int)threadIdx.x; p >= begin; p -= 32)
      m = fmaxf(*p, m);
   for (int k = 16; k; k /= 2)
      m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, k));
   m = __shfl_sync(0xffffffffu, m, 0);
   for (p = begin + D - 1 - (int)threadIdx.x; p >= begin; p -= 32)
      s += expf(*p - m);
   for (int k = 16; k; k /= 2)
      s += __shfl_down_sync(0xffffffffu, s, k);
   s = 1.f / __shfl_sync(0xffffffffu, s, 0);
   for (p = begin + D - 1 - (int)threadIdx.x; p >= begin; p -= 32)
      y[(long long)row * D + (p - begin)] = expf(*p - m) * s;
}
