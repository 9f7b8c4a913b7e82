/* rkb-kernel: 1
task: doubled
direction: forward
launches:
  - {kernel: doubled_together, grid: "min(ceildiv(N, 128), 128)", block: 128, cooperative: true, args: "x, y, N"}
*/
#include <cooperative_groups.h>

/* The last element is stored twice, before and after a barrier of the grid. */
extern "C" __global__ void doubled_together(const float *x, float *y, int n) {
   for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128)
      y[i] = x[i] + x[i];
   cooperative_groups::this_grid().sync();
   if (blockIdx.x == 0 && threadIdx.x == 0)
      y[n - 1] = x[n - 1] + x[n - 1];
}
