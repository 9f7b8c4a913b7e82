/* rkb-kernel: 1
task: layernorm
direction: backward
let:
  D: C * H * W
  parts: min(2, N)
scratch:
  mean: {dtype: float32, shape: "N"}
  scale: {dtype: float32, shape: "N"}
  partial: {dtype: float32, shape: "2, D"}
  tickets: {dtype: int32, shape: "ceildiv(D, 64)", init: zero}
launches:
  - kernel: grad_row
    grid: N
    block: 128
    args: grad_y, x, weight, grad_x, mean, scale, eps, D
  - kernel: grad_column
    grid: ceildiv(D, 64), parts
    block: 64
    args: grad_y, x, mean, scale, partial, tickets, grad_weight, 1, N, D
  - kernel: grad_column
    grid: ceildiv(D, 64), parts
    block: 64
    args: grad_y, x, mean, scale, partial, tickets, grad_bias, 0, N, D
*/

/* A correct but delicate kernel for the fault operators: two launches of one kernel share partial sums and tickets; its last block
 * of some columns adds up. */

__device__ float block_sum(float value) {
   __shared__ float of_warp[4];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   return of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
}

__global__ void grad_row(const float *grad_y, const float *x, const float *weight, float *grad_x, float *mean, float *scale,
                         float eps, int D) {
   const float *g = grad_y + (long long)blockIdx.x * D, *row = x + (long long)blockIdx.x * D;
   float sum = 0.0f, squares = 0.0f, grads = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < D; i += 128)
      sum += row[i];
   const float middle = block_sum(sum) / D;
   for (int i = threadIdx.x; i < D; i += 128) {
      const float deviation = row[i] - middle, weighted = g[i] * weight[i];
      squares += deviation * deviation;
      grads += weighted;
      products += weighted * deviation;
   }
   const float r = 1.0f / sqrtf(block_sum(squares) / D + eps);
   const float grad_mean = block_sum(grads) / D, pull = block_sum(products) / D * r * r;
   for (int i = threadIdx.x; i < D; i += 128)
      grad_x[(long long)blockIdx.x * D + i] = r * (g[i] * weight[i] - grad_mean - (row[i] - middle) * pull);
   if (threadIdx.x == 0) {
      mean[blockIdx.x] = middle;
      scale[blockIdx.x] = r;
   }
}

__global__ void grad_column(const float *grad_y, const float *x, const float *mean, const float *scale, float *partial,
                            unsigned *tickets, float *out, int weighted, int N, int D) {
   __shared__ bool is_last;
   const int column = blockIdx.x * 64 + threadIdx.x;
   if (column < D) {
      float sum = 0.0f;
      for (int row = blockIdx.y; row < N; row += gridDim.y) {
         const long long at = (long long)row * D + column;
         sum += weighted ? grad_y[at] * (x[at] - mean[row]) * scale[row] : grad_y[at];
      }
      partial[blockIdx.y * D + column] = sum;
      __threadfence();
   }
   __syncthreads();
   if (threadIdx.x == 0)
      is_last = atomicAdd(&tickets[blockIdx.x], 1u) == gridDim.y - 1;
   __syncthreads();
   if (!is_last)
      return;
   __threadfence();
   if (column < D) {
      float all = 0.0f;
      for (int part = 0; part < gridDim.y; part++)
         all += partial[part * D + column];
      out[column] = all;
   }
   if (threadIdx.x == 0)
      tickets[blockIdx.x] = 0;
}
