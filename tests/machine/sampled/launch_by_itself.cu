/* rkb-kernel: 1
task: gelu_mlp
direction: forward
let:
  rows: B * T
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
launches:
  - kernel: first
    grid: ceildiv(rows, 64), ceildiv(F, 2)
    block: 128
    args: x, fc_weight, fc_bias, hidden, rows, D, F
  - kernel: second
    grid: ceildiv(rows, 64), ceildiv(D, 2)
    block: 128
    args: hidden, proj_weight, proj_bias, y, rows, D, F
*/
// why: what the second launch reads costs too much to execute, and is an intermediate of the reference: each launch is judged by itself
// task: gelu_mlp
// standing: accept
// says: "given":{"hidden":"active"}
// says: the launch was executed by itself
// never: no element of y was judged
__device__ float dot(const float *left, long long step, const float *right, int count) {
   float sum = 0.0f;
   for (int k = 0; k < count; k++)
      sum += left[k * step] * right[k];
   return sum;
}

__device__ float gelu(float value) {
   return 0.5f * value * (1.0f + erff(value * 0.70710678f));
}

__global__ void first(const float *x, const float *weight, const float *bias, float *hidden, int rows, int D, int F) {
   const int row = blockIdx.x * 64 + threadIdx.x % 64, column = blockIdx.y * 2 + threadIdx.x / 64;
   if (row < rows && column < F)
      hidden[(long long)row * F + column] = gelu(dot(x + (long long)row * D, 1, weight + (long long)column * D, D) + bias[column]);
}

__global__ void second(const float *hidden, const float *weight, const float *bias, float *y, int rows, int D, int F) {
   const int row = blockIdx.x * 64 + threadIdx.x % 64, column = blockIdx.y * 2 + threadIdx.x / 64;
   if (row < rows && column < D)
      y[(long long)row * D + column] = dot(hidden + (long long)row * F, 1, weight + (long long)column * F, F) + bias[column];
}
