/* rkb-kernel: 1
task: doubled
direction: forward
launches:
  - kernel: doubled
    grid: ceildiv(N, 256)
    block: 256
    args: x, y, N
*/
extern "C" __global__ void doubled(const float *x, float *y, int n) {
   const int here = blockIdx.x * 256 + threadIdx.x;
   if (here < n)
      y[here] = 2.0f * x[here];
}
