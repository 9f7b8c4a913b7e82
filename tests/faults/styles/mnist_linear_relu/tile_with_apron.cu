/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: tile
    grid: ceildiv(O, 16), ceildiv(N, 16)
    block: 16, 16
    args: x, weight, bias, y, N, I, O
*/
/* Tiles with one column more than they need; zero outside of the matrices. */
__global__ void tile(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   __shared__ float a[16][17], b[16][17];
   const int c = threadIdx.x, r = threadIdx.y, n = blockIdx.y * 16 + r, o = blockIdx.x * 16 + c;
   float s = 0;
   for (int k = 0; k < I; k += 16) {
      a[r][c] = n < N && k + c < I ? x[n * I + k + c] : 0;
      b[r][c] = blockIdx.x * 16 + r < O && k + c < I ? weight[(blockIdx.x * 16 + r) * I + k + c] : 0;
      __syncthreads();
#pragma unroll
      for (int j = 0; j < 16; j++)
         s += a[r][j] * b[c][j];
      __syncthreads();
   }
   if (n < N && o < O) {
      s += bias[o];
      y[n * O + o] = s < 0 ? 0 : s;
   }
}
