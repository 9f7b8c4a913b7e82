/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: plain
    grid: ceildiv(N * O, 128)
    block: 128
    args: x, weight, bias, y, N, I, O
*/
/* The plainest kernel: flat index, one sum a thread, from the last factor to the first. */
__global__ void plain(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const int i = blockIdx.x * 128 + threadIdx.x, n = i / O, o = i - n * O;
   if (i >= N * O)
      return;
   float s = bias[o];
   for (int k = I; k--;)
      s += x[n * I + k] * weight[o * I + k];
   y[i] = s <= 0 ? 0 : s;
}
