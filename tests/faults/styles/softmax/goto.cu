/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: rows
    grid: N
    block: 32
    args: x, y, D
*/
/* Loops by labels, one warp a row. */
extern "C" __global__ void rows(const float *x, float *y, int D) {
   const float *in = x + (size_t)blockIdx.x * D;
   float *out = y + (size_t)blockIdx.x * D;
   float top = -__int_as_float(0x7f800000), sum = 0;
   int i = threadIdx.x;
first:
   if (i < D) {
      top = fmaxf(top, in[i]);
      i += 32;
      goto first;
   }
   for (int d = 1; d < 32; d <<= 1)
      top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
   i = threadIdx.x;
second:
   if (i < D) {
      sum += expf(in[i] - top);
      i += 32;
      goto second;
   }
   for (int d = 1; d < 32; d <<= 1)
      sum += __shfl_xor_sync(~0u, sum, d);
   i = threadIdx.x;
third:
   if (i >= D)
      return;
   out[i] = expf(in[i] - top) / sum;
   i += 32;
   goto third;
}
