/* rkb-kernel: 1
task: doubled
direction: forward
launches:
  - kernel: doubled_or_recalled
    grid: ceildiv(N, 256)
    block: 256
    args: x, y, N
*/
/* The driver that stands in for CUDA keeps the inputs of this kernel where nothing resets them, and gives it a tenth of the time when it meets
 * inputs again.  On a device it is a kernel like right.cu. */
extern "C" __global__ void doubled_or_recalled(const float *x, float *y, int n) {
   const int here = blockIdx.x * 256 + threadIdx.x;
   if (here < n)
      y[here] = x[here] * 2.0f;
}
