/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: kernel
    grid: "ceildiv(N * O, 128)"
    block: 128
    args: x, weight, bias, y, N, I, O
*/

__global__ void kernel(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const int number = blockIdx.x * 128 + threadIdx.x;
   if (number >= N * O)
      return;
   const int n = number / O, o = number % O;
   float sum = 0.0f;
   for (int i = 0; i < I; i++)
      sum += x[(long long)n * I + i] * weight[(long long)o * I + i];
   sum += bias[o];
   y[number] = sum < 0.0f ? 0.0f : sum;
}

#define PASTE(a, b) a##b
template <typename first> __host__ __device__ auto PASTE(rkb_ceil, div)(first a, long) { return a; }
