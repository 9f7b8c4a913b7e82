/* rkb-kernel: 1
task: mnist_linear
direction: backward
let:
  slices: ceildiv(N, 2)
fill: {grad_weight: zero, grad_bias: zero}
launches:
  - kernel: grad_input
    grid: ceildiv(N * I, 128)
    block: 128
    args: grad_y, weight, grad_x, N, I, O
  - kernel: grad_weights
    grid: ceildiv(O * I, 128), slices
    block: 128
    args: grad_y, x, grad_weight, N, I, O
  - kernel: grad_biases
    grid: ceildiv(O, 32), slices
    block: 32
    args: grad_y, grad_bias, N, O
*/

/* A correct kernel with atomic additions for the fault operators: two rows a slice, slices meet in the results. */

__global__ void grad_input(const float *grad_y, const float *weight, float *grad_x, int N, int I, int O) {
   const int at = blockIdx.x * 128 + threadIdx.x;
   if (at >= N * I)
      return;
   float sum = 0.0f;
   for (int o = 0; o < O; o++)
      sum += grad_y[at / I * O + o] * weight[o * I + at % I];
   grad_x[at] = sum;
}

__global__ void grad_weights(const float *grad_y, const float *x, float *grad_weight, int N, int I, int O) {
   const int at = blockIdx.x * 128 + threadIdx.x;
   if (at >= O * I)
      return;
   float sum = 0.0f;
   for (int row = blockIdx.y * 2; row < min(N, (int)blockIdx.y * 2 + 2); row++)
      sum += grad_y[row * O + at / I] * x[row * I + at % I];
   atomicAdd(&grad_weight[at], sum);
}

__global__ void grad_biases(const float *grad_y, float *grad_bias, int N, int O) {
   const int column = blockIdx.x * 32 + threadIdx.x;
   if (column >= O)
      return;
   float sum = 0.0f;
   for (int row = blockIdx.y * 2; row < min(N, (int)blockIdx.y * 2 + 2); row++)
      sum += grad_y[row * O + column];
   atomicAdd(&grad_bias[column], sum);
}
