/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: shifted
    grid: N
    block: 32
    args: x, y, D
*/
/* What is subtracted need not be the largest: any element of the row near it serves. The largest of each lane's first elements is tried, then raised. */
__global__ void shifted(const float *x, float *y, int D) {
   const float *in = x + (long long)blockIdx.x * D;
   float guess = in[0], s;
   for (int i = threadIdx.x; i < D; i += 32)
      guess = in[i] > guess + 8 ? in[i] : guess;
   for (int d = 16; d > 0; d >>= 1)
      guess = fmaxf(guess, __shfl_xor_sync(0xffffffffu, guess, d));
   s = 0;
   for (int i = threadIdx.x; i < D; i += 32)
      s += expf(in[i] - guess);
   for (int d = 16; d > 0; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = expf(in[i] - guess) / s;
}
