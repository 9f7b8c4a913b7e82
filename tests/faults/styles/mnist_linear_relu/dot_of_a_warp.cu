/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: dots
    grid: O, N
    block: 32
    args: x, weight, bias, y, N, I, O
*/
/* A warp a result. */
__global__ void dots(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const float *a = x + (long long)blockIdx.y * I, *b = weight + (long long)blockIdx.x * I;
   float s = 0;
   for (int k = threadIdx.x; k < I; k += 32)
      s += a[k] * b[k];
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   s += bias[blockIdx.x];
   if (threadIdx.x == 0)
      y[(long long)blockIdx.y * O + blockIdx.x] = s < 0 ? 0 : s;
}
