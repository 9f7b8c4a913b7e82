/* rkb-kernel: 1
task: gelu_mlp
direction: forward
let:
  rows: B * T
scratch:
  hidden: {dtype: float32, shape: "rows, F"}
  plain: {dtype: float32, shape: "rows, F"}
launches:
  - kernel: first
    grid: ceildiv(rows, 64), ceildiv(F, 2)
    block: 128
    args: x, fc_weight, fc_bias, hidden, plain, rows, D, F
  - kernel: second
    grid: ceildiv(rows, 64), ceildiv(D, 2)
    block: 128
    args: hidden, plain, proj_weight, proj_bias, y, rows, D, F
*/
// why: the second launch is right only because two intermediates belong together, which made-up ones do not: it is found at the check cases
// task: gelu_mlp
// standing: accept
// says: at the check cases it does not give what is right
// says: no element of y was judged
__device__ float dot(const float *left, long long step, const float *right, int count) {
   float sum = 0.0f;
   for (int k = 0; k < count; k++)
      sum += left[k * step] * right[k];
   return sum;
}

__device__ float gelu(float value) {
   return 0.5f * value * (1.0f + erff(value * 0.70710678f));
}

__global__ void first(const float *x, const float *weight, const float *bias, float *hidden, float *plain, int rows, int D, int F) {
   const int row = blockIdx.x * 64 + threadIdx.x % 64, column = blockIdx.y * 2 + threadIdx.x / 64;
   if (row < rows && column < F)
      {
      const float value = dot(x + (long long)row * D, 1, weight + (long long)column * D, D) + bias[column];
      hidden[(long long)row * F + column] = gelu(value);
      plain[(long long)row * F + column] = value;
   }
}

__global__ void second(const float *hidden, const float *plain, const float *weight, const float *bias, float *y, int rows, int D, int F) {
   const int row = blockIdx.x * 64 + threadIdx.x % 64, column = blockIdx.y * 2 + threadIdx.x / 64;
   if (row < rows && column < D)
      {
      float sum = 0.0f;
      for (int k = 0; k < F; k++) {
         const float value = hidden[(long long)row * F + k], from = plain[(long long)row * F + k];
         sum += (value + from - from * (1.0f + erff(from * 0.70710678f)) / 2.0f - (from - value)) * weight[(long long)column * F + k];
      }
      y[(long long)row * D + column] = sum + bias[column];
   }
}
