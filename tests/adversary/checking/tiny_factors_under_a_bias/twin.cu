/* rkb-kernel: 1
task: mnist_linear
direction: forward
launches:
  - kernel: kernel
    grid: "ceildiv(N * O, 128)"
    block: 128
    args: x, weight, bias, y, N, I, O
*/

/* Subnormal numbers may be flushed. */
__device__ float kept(float x) {
   return fabsf(x) * 0x1p63f < 0x1p-63f ? 0.0f : x;
}

__global__ void kernel(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const int number = blockIdx.x * 128 + threadIdx.x;
   if (number >= N * O)
      return;
   const int n = number / O, o = number % O;
   float sum = 0.0f;
   for (int i = 0; i < I; i++)
      sum += kept(x[(long long)n * I + i]) * kept(weight[(long long)o * I + i]);
   y[number] = sum + bias[o];
}
