/* rkb-kernel: 1
task: counted
direction: forward
launches:
  - kernel: count
    grid: N
    block: 32
    args: x, y, z, D
*/

/* A thread counts a row.  Two are enough, where more than two are asked for. */

__global__ void __launch_bounds__(32) count(const float *x, float *y, float *z, int D) {
   if (threadIdx.x != 0)
      return;
   const long long row = (long long)blockIdx.x * D;
   int found = 0;
   for (int i = 0; i < D; i++) {
      found += x[row + i] > 0.25f;
      z[row + i] = found > 2;
   }
   y[blockIdx.x] = found >= 2;
}
