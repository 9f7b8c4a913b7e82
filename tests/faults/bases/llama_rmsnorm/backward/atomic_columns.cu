/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
let:
  rows: B * T
fill: {grad_weight: zero}
launches:
  - kernel: grad_row
    grid: rows
    block: 64
    args: grad_y, x, weight, grad_x, grad_weight, eps, D
*/

/* A correct kernel with atomic additions for the fault operators: a block a row, the rows meet in grad_weight and, within a
 * block, the warps in shared sums. */

__global__ void grad_row(const float *grad_y, const float *x, const float *weight, float *grad_x, float *grad_weight, float eps, int D) {
   __shared__ float squares, products;
   const float *g = grad_y + (long long)blockIdx.x * D, *row = x + (long long)blockIdx.x * D;
   float *out = grad_x + (long long)blockIdx.x * D;
   if (threadIdx.x == 0) {
      squares = 0.0f;
      products = 0.0f;
   }
   __syncthreads();
   float my_squares = 0.0f, my_products = 0.0f;
   for (int i = threadIdx.x; i < D; i += 64) {
      my_squares += row[i] * row[i];
      my_products += g[i] * weight[i] * row[i];
   }
   for (int distance = 16; distance > 0; distance /= 2) {
      my_squares += __shfl_xor_sync(0xffffffffu, my_squares, distance);
      my_products += __shfl_xor_sync(0xffffffffu, my_products, distance);
   }
   if (threadIdx.x % 32 == 0) {
      atomicAdd(&squares, my_squares);
      atomicAdd(&products, my_products);
   }
   __syncthreads();
   const float r = rsqrtf(squares / D + eps), pull = products / D * r * r;
   for (int i = threadIdx.x; i < D; i += 64) {
      out[i] = r * (g[i] * weight[i] - row[i] * pull);
      atomicAdd(&grad_weight[i], g[i] * row[i] * r);
   }
}
