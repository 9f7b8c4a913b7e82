/* rkb-kernel: 1
task: doubled
direction: forward
launches:
  - kernel: doubled_but_for_a_block
    grid: ceildiv(N, 256)
    block: 256
    args: x, y, N
*/
extern "C" __global__ void doubled_but_for_a_block(const float *x, float *y, int n) {
   const int here = blockIdx.x * 256 + threadIdx.x;
   if (here < n)
      y[here] = (gridDim.x == 4096 && blockIdx.x == 2345 ? 2.001f : 2.0f) * x[here];
}
