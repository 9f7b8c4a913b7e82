/* rkb-kernel: 1
task: short_sums
direction: forward
launches:
  - kernel: linear
    grid: ceildiv(N, 32), ceildiv(R, 8)
    block: 32, 8
    args: x, weight, bias, y, R, K, N
*/
// task: ../tests/task/data/short_sums
// why: the accumulator starts at the bias, as in the epilogues of matrix products; the bias passes through every rounding
// standing: accept
// says: "facet":"memory"
// twin: START(b) __half2float(__float2half(b)) => hard bound
#include <cuda_fp16.h>
#define START(b) (b)
__global__ void linear(const float *x, const float *weight, const float *bias, float *y, int R, int K, int N) {
   const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
   if (column >= N || row >= R)
      return;
   float sum = START(bias[column]);
   for (int i = 0; i < K; i++)
      sum += x[row * K + i] * weight[column * K + i];
   y[row * N + column] = sum;
}
