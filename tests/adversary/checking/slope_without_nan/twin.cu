/* rkb-kernel: 1
task: mnist_linear_relu
direction: backward
scratch:
  masked: {dtype: float32, shape: "N, O"}
launches:
  - kernel: mask
    grid: ceildiv(N * O, 128)
    block: 128
    args: grad_y, x, weight, bias, masked, N, I, O
  - kernel: grad_input
    grid: ceildiv(N * I, 128)
    block: 128
    args: masked, weight, grad_x, N, I, O
  - kernel: grad_parameters
    grid: ceildiv(O * (I + 1), 128)
    block: 128
    args: masked, x, grad_weight, grad_bias, N, I, O
*/

__global__ void mask(const float *grad_y, const float *x, const float *weight, const float *bias, float *masked, int N, int I, int O) {
   const int number = blockIdx.x * 128 + threadIdx.x;
   if (number >= N * O)
      return;
   const int n = number / O, o = number % O;
   float sum = 0.0f;
   for (int i = 0; i < I; i++)
      sum += x[(long long)n * I + i] * weight[(long long)o * I + i];
   sum += bias[o];
   masked[number] = sum <= 0.0f ? 0.0f : grad_y[number];
}

__global__ void grad_input(const float *masked, const float *weight, float *grad_x, int N, int I, int O) {
   const int number = blockIdx.x * 128 + threadIdx.x;
   if (number >= N * I)
      return;
   const int n = number / I, i = number % I;
   float sum = 0.0f;
   for (int o = 0; o < O; o++)
      sum += masked[(long long)n * O + o] * weight[(long long)o * I + i];
   grad_x[number] = sum;
}

/* Column I of a row of the weight stands for the bias. */
__global__ void grad_parameters(const float *masked, const float *x, float *grad_weight, float *grad_bias, int N, int I, int O) {
   const int number = blockIdx.x * 128 + threadIdx.x;
   if (number >= O * (I + 1))
      return;
   const int o = number / (I + 1), i = number % (I + 1);
   float sum = 0.0f;
   for (int n = 0; n < N; n++)
      sum += masked[(long long)n * O + o] * (i < I ? x[(long long)n * I + i] : 1.0f);
   if (i < I)
      grad_weight[(long long)o * I + i] = sum;
   else
      grad_bias[o] = sum;
}
