/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: ceildiv(N, 32)
    block: "32"
    args: x, y, N, D
*/

/* One thread owns one row: the lanes of a warp are whole rows apart. */
__global__ void softmax(const float *x, float *y, int N, int D) {
   long long n = blockIdx.x * 32 + threadIdx.x;
   float largest = -3.402823466e38f, sum = 0.0f;
   if (n >= N)
      return;
   for (int i = 0; i < D; i++)
      largest = fmaxf(largest, x[n * D + i]);
   for (int i = 0; i < D; i++)
      sum += expf(x[n * D + i] - largest);
   for (int i = 0; i < D; i++)
      y[n * D + i] = expf(x[n * D + i] - largest) / sum;
}
