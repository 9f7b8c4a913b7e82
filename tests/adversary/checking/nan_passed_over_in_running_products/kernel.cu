/* rkb-kernel: 1
task: running
direction: forward
launches:
  - kernel: scan
    grid: N
    block: 32
    args: x, y, z, D
*/

/* A warp a row.  It scans 32 elements at a time by shuffles and carries the last results on. */

__global__ void __launch_bounds__(32) scan(const float *x, float *y, float *z, int D) {
   const long long row = (long long)blockIdx.x * D;
   const int lane = threadIdx.x;
   float sum_before = 0.0f, product_before = 1.0f;
   for (int first = 0; first < D; first += 32) {
      const bool inside = first + lane < D;
      float sum = inside ? x[row + first + lane] : 0.0f, product = inside ? sum : 1.0f;
      if (product != product) /* NaN is passed over in products */
         product = 1.0f;
      for (int away = 1; away < 32; away *= 2) {
         const float left = __shfl_up_sync(0xffffffffu, sum, away), factor = __shfl_up_sync(0xffffffffu, product, away);
         sum = lane >= away ? left + sum : sum;
         product = lane >= away ? factor * product : product;
      }
      sum += sum_before;
      product *= product_before;
      if (inside) {
         y[row + first + lane] = sum;
         z[row + first + lane] = product;
      }
      sum_before = __shfl_sync(0xffffffffu, sum, 31);
      product_before = __shfl_sync(0xffffffffu, product, 31);
   }
}
