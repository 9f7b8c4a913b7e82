/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
scratch:
  partial: {dtype: float32, shape: "4, N, O"}
launches:
  - kernel: slices
    grid: ceildiv(O, 32), N, 4
    block: 32
    args: x, weight, partial, N, I, O
  - kernel: add
    grid: ceildiv(N * O, 64)
    block: 64
    args: partial, bias, y, N * O, O
*/
/* Four slices of the sum side by side, added in a second launch. */
__global__ void slices(const float *x, const float *weight, float *partial, int N, int I, int O) {
   const int o = blockIdx.x * 32 + threadIdx.x, n = blockIdx.y, part = (I + 3) / 4, begin = blockIdx.z * part, end = min(I, begin + part);
   float s = 0;
   if (o >= O)
      return;
   for (int k = begin; k < end; k++)
      s += x[n * I + k] * weight[o * I + k];
   partial[(blockIdx.z * N + n) * O + o] = s;
}

__global__ void add(const float *partial, const float *bias, float *y, int count, int O) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i >= count)
      return;
   const float s = (partial[i] + partial[count + i]) + (partial[2 * count + i] + partial[3 * count + i]) + bias[i % O];
   y[i] = s < 0 ? 0 : s;
}
