/* rkb-kernel: 1
task: mnist_linear
direction: backward
let:
  slices: min(8, N)
scratch:
  partial: {dtype: float32, shape: "8, O * I"}
  tickets: {dtype: int32, shape: "ceildiv(O * I, 128)", init: zero}
launches:
  - kernel: grad_input
    grid: ceildiv(N * I, 128)
    block: 128
    args: grad_y, weight, grad_x, N, I, O
  - kernel: grad_weights
    grid: ceildiv(O * I, 128), slices
    block: 128
    args: grad_y, x, partial, tickets, grad_weight, N, I, O
  - kernel: grad_biases
    grid: ceildiv(O, 128), slices
    block: 128
    args: grad_y, partial, tickets, grad_bias, N, O
*/

/* A correct but delicate kernel for the fault operators: slices of the rows leave their sums in scratch, the last slice of a tile
 * adds them up, and the next launch counts on the same tickets. */

__global__ void grad_input(const float *grad_y, const float *weight, float *grad_x, int N, int I, int O) {
   const int at = blockIdx.x * 128 + threadIdx.x;
   if (at >= N * I)
      return;
   float sum = 0.0f;
   for (int o = 0; o < O; o++)
      sum += grad_y[at / I * O + o] * weight[o * I + at % I];
   grad_x[at] = sum;
}

__device__ bool finished_last(unsigned *tickets) {
   __shared__ bool is_last;
   __threadfence();
   __syncthreads();
   if (threadIdx.x == 0)
      is_last = atomicAdd(&tickets[blockIdx.x], 1u) == gridDim.y - 1;
   __syncthreads();
   __threadfence();
   return is_last;
}

__global__ void grad_weights(const float *grad_y, const float *x, float *partial, unsigned *tickets, float *grad_weight, int N,
                             int I, int O) {
   const int at = blockIdx.x * 128 + threadIdx.x;
   if (at < O * I) {
      float sum = 0.0f;
      for (int row = blockIdx.y; row < N; row += gridDim.y)
         sum += grad_y[row * O + at / I] * x[row * I + at % I];
      partial[blockIdx.y * O * I + at] = sum;
   }
   if (!finished_last(tickets))
      return;
   if (at < O * I) {
      float all = 0.0f;
      for (int slice = 0; slice < gridDim.y; slice++)
         all += partial[slice * O * I + at];
      grad_weight[at] = all;
   }
   if (threadIdx.x == 0)
      tickets[blockIdx.x] = 0;
}

__global__ void grad_biases(const float *grad_y, float *partial, unsigned *tickets, float *grad_bias, int N, int O) {
   const int column = blockIdx.x * 128 + threadIdx.x;
   if (column < O) {
      float sum = 0.0f;
      for (int row = blockIdx.y; row < N; row += gridDim.y)
         sum += grad_y[row * O + column];
      partial[blockIdx.y * O + column] = sum;
   }
   if (!finished_last(tickets))
      return;
   if (column < O) {
      float all = 0.0f;
      for (int slice = 0; slice < gridDim.y; slice++)
         all += partial[slice * O + column];
      grad_bias[column] = all;
   }
   if (threadIdx.x == 0)
      tickets[blockIdx.x] = 0;
}
