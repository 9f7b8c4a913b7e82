/* rkb-kernel: 1
task: doubled
direction: forward
launches:
  - {kernel: doubled, grid: "ceildiv(N, 128)", block: 128, args: "x, y, N"}
*/
extern "C" __global__ void doubled(const float *x, float *y, int n) {
   const int i = blockIdx.x * 128 + threadIdx.x;
   if (i < n)
      y[i] = x[i] + x[i];
}
