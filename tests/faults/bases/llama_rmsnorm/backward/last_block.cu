/* rkb-kernel: 1
task: llama_rmsnorm
direction: backward
let:
  rows: B * T
  half: ceildiv(rows, 2)
scratch:
  scale: {dtype: float32, shape: "rows"}
  partial: {dtype: float32, shape: "4, D"}
  tickets: {dtype: int32, shape: "ceildiv(D, 64)", init: zero}
launches:
  - kernel: grad_row
    grid: rows
    block: 64
    args: grad_y, x, weight, grad_x, scale, eps, D
  - kernel: grad_column
    grid: ceildiv(D, 64), min(4, half)
    block: 64
    args: grad_y, x, scale, partial, tickets, grad_weight, 0, half, D
  - kernel: grad_column
    grid: ceildiv(D, 64), min(4, rows - half)
    block: 64
    args: grad_y, x, scale, partial, tickets, grad_weight, half, rows, D
*/

/* A correct but delicate kernel for the fault operators: blocks share the rows of some columns, and the last one of them adds up.
 * Every thread fences what it wrote itself. */

__global__ void grad_row(const float *grad_y, const float *x, const float *weight, float *grad_x, float *scale, float eps, int D) {
   __shared__ float of_warp[2][2];
   const float *g = grad_y + (long long)blockIdx.x * D, *row = x + (long long)blockIdx.x * D;
   float *out = grad_x + (long long)blockIdx.x * D;
   float squares = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < D; i += 64) {
      squares += row[i] * row[i];
      products += g[i] * weight[i] * row[i];
   }
   for (int distance = 16; distance > 0; distance /= 2) {
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
      products += __shfl_xor_sync(0xffffffffu, products, distance);
   }
   if (threadIdx.x % 32 == 0) {
      of_warp[threadIdx.x / 32][0] = squares;
      of_warp[threadIdx.x / 32][1] = products;
   }
   __syncthreads();
   const float r = rsqrtf((of_warp[0][0] + of_warp[1][0]) / D + eps);
   const float pull = (of_warp[0][1] + of_warp[1][1]) / D * r * r;
   for (int i = threadIdx.x; i < D; i += 64)
      out[i] = r * (g[i] * weight[i] - row[i] * pull);
   if (threadIdx.x == 0)
      scale[blockIdx.x] = r;
}

__global__ void grad_column(const float *grad_y, const float *x, const float *scale, float *partial, unsigned *tickets,
                            float *grad_weight, int first, int last, int D) {
   __shared__ bool is_last;
   const int column = blockIdx.x * 64 + threadIdx.x;
   if (column < D) {
      float sum = 0.0f;
      for (int row = first + blockIdx.y; row < last; row += gridDim.y)
         sum += grad_y[(long long)row * D + column] * x[(long long)row * D + column] * scale[row];
      partial[blockIdx.y * D + column] = sum;
   }
   __threadfence();
   __syncthreads();
   if (threadIdx.x == 0)
      is_last = atomicAdd(&tickets[blockIdx.x], 1u) == gridDim.y - 1;
   __syncthreads();
   if (!is_last)
      return;
   __threadfence();
   if (column < D) {
      float all = first == 0 ? 0.0f : grad_weight[column];
      for (int part = 0; part < gridDim.y; part++)
         all += partial[part * D + column];
      grad_weight[column] = all;
   }
   if (threadIdx.x == 0)
      tickets[blockIdx.x] = 0;
}
