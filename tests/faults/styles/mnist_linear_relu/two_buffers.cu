/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: twice
    grid: ceildiv(O, 16), ceildiv(N, 16)
    block: 16, 16
    args: x, weight, bias, y, N, I, O
*/
/* The next tile is read into registers while this one is used; one barrier a turn. */
__global__ void twice(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   __shared__ float a[2][16][17], b[2][16][17];
   const int c = threadIdx.x, r = threadIdx.y, n = blockIdx.y * 16 + r, o = blockIdx.x * 16 + c, w = blockIdx.x * 16 + r;
   float s = 0, next_a = n < N && c < I ? x[n * I + c] : 0, next_b = w < O && c < I ? weight[w * I + c] : 0;
   for (int k = 0, turn = 0; k < I; k += 16, turn ^= 1) {
      a[turn][r][c] = next_a;
      b[turn][r][c] = next_b;
      __syncthreads();
      const int ahead = k + 16 + c;
      next_a = n < N && ahead < I ? x[n * I + ahead] : 0;
      next_b = w < O && ahead < I ? weight[w * I + ahead] : 0;
      for (int j = 0; j < 16; j++)
         s = fmaf(a[turn][r][j], b[turn][c][j], s);
   }
   if (n < N && o < O) {
      const float v = s + bias[o];
      y[n * O + o] = v > 0 || v != v ? v : 0;
   }
}
