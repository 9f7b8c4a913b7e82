/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: kahan
    grid: N
    block: 32
    args: x, y, D
*/
/* Kahan's sum, lane 0 adding up the lanes. */
__global__ void kahan(const float *x, float *y, int D) {
   __shared__ float sums[32];
   const float *in = x + (long long)blockIdx.x * D;
   float m = -__int_as_float(0x7f800000), s = 0, lost = 0;
   for (int i = 0; i < D; i++)
      m = fmaxf(m, in[i]);
   for (int i = threadIdx.x; i < D; i += 32) {
      const float term = expf(in[i] - m) - lost, next = s + term;
      lost = (next - s) - term;
      s = next;
   }
   sums[threadIdx.x] = s;
   __syncwarp();
   s = 0;
   for (int lane = 0; lane < 32; lane++)
      s += sums[lane];
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = expf(in[i] - m) / s;
}
