/* rkb-kernel: 1
task: kept_order
direction: forward
launches:
  - kernel: order
    grid: N
    block: 64
    args: x, sorted, places, D
*/

/* A block a row.  A thread counts how many elements come before its own. */

/* Whether (a, i) comes before (b, j). */
__device__ bool before(float a, int i, float b, int j) {
   const bool nan = a != a, other = b != b;
   return nan != other ? nan : a > b || ((a == b || nan) && i < j);
}

__global__ void __launch_bounds__(64) order(const float *x, float *sorted, long long *places, int D) {
   const long long row = (long long)blockIdx.x * D;
   for (int own = threadIdx.x; own < D; own += 64) {
      int turn = 0;
      for (int i = 0; i < D; i++)
         turn += before(x[row + i], i, x[row + own], own);
      sorted[row + turn] = x[row + own];
      places[row + turn] = own;
   }
}
