/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: unrolled
    grid: N
    block: 32
    args: x, y, D
*/
/* A loop unrolled by a switch that is jumped into. */
__global__ void unrolled(const float *x, float *y, int D) {
   const float *in = x + (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0;
   int i = threadIdx.x, turns = (D - (int)threadIdx.x + 31) / 32;
   if (turns > 0) {
      int rounds = (turns + 3) / 4;
      switch (turns % 4) {
         do {
      case 0:
         m = fmaxf(m, in[i]), i += 32;
      case 3:
         m = fmaxf(m, in[i]), i += 32;
      case 2:
         m = fmaxf(m, in[i]), i += 32;
      case 1:
         m = fmaxf(m, in[i]), i += 32;
         } while (--rounds > 0);
      }
   }
   for (int d = 16; d; d /= 2)
      m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, d));
   for (i = threadIdx.x; i < D; i += 32)
      s += expf(in[i] - m);
   for (int d = 16; d; d /= 2)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   for (i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = expf(in[i] - m) / s;
}
