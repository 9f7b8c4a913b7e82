/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
scratch:
  sums: {dtype: float32, shape: "N * O"}
launches:
  - kernel: linear
    grid: ceildiv(N * O, 4096)
    block: 1024
    args: x, weight, bias, sums, N * O, I, O
  - kernel: rectify
    grid: ceildiv(N * O, 256)
    block: 256
    args: sums, y, N * O, I
*/

/* A block has 4096 elements, so that at the timed size two blocks do nearly all of the work. */
__global__ void linear(const float *x, const float *weight, const float *bias, float *sums, int count, int I, int O) {
   for (int at = blockIdx.x * 4096 + threadIdx.x; at < count && at < blockIdx.x * 4096 + 4096; at += 1024) {
      float above = 0.0f, below = 0.0f;
      for (int i = 0; i < I; i++) {
         const float term = x[(long long)(at / O) * I + i] * weight[(long long)(at % O) * I + i];
         above += term > 0.0f ? term : 0.0f;
         below += term > 0.0f ? 0.0f : term;
      }
      sums[at] = above + below + bias[at % O];
   }
}

__global__ void rectify(const float *sums, float *y, int count, int I) {
   const int at = blockIdx.x * 256 + threadIdx.x;
   if (at < count)
      y[at] = sums[at] <= 0.0f ? 0.0f : sums[at];
}
