/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: begin
    grid: ceildiv(N * O, 64)
    block: 64
    args: bias, y, N * O, O
  - kernel: sums
    grid: ceildiv(O, 32), N, ceildiv(I, 64)
    block: 32
    args: x, weight, y, I, O
  - kernel: end
    grid: ceildiv(N * O, 64)
    block: 64
    args: y, N * O
*/
/* Slices of 64 factors are added to the output by atomic operations. */
__global__ void begin(const float *bias, float *y, int count, int O) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i < count)
      y[i] = bias[i % O];
}

__global__ void sums(const float *x, const float *weight, float *y, int I, int O) {
   const int o = blockIdx.x * 32 + threadIdx.x, first = blockIdx.z * 64;
   float s = 0;
   for (int k = first; o < O && k < min(I, first + 64); k++)
      s += x[blockIdx.y * I + k] * weight[o * I + k];
   if (o < O)
      atomicAdd(&y[blockIdx.y * O + o], s);
}

__global__ void end(float *y, int count) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i < count)
      y[i] = y[i] < 0 ? 0 : y[i];
}
