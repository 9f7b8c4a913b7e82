/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: stripes
    grid: ceildiv(O, 4), ceildiv(N, 32)
    block: 32
    args: x, weight, bias, y, N, I, O
*/
/* A lane has a row and four columns; rows past the end repeat the last. */
__global__ void stripes(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const int n = blockIdx.y * 32 + threadIdx.x, row = min(n, N - 1), o = blockIdx.x * 4;
   float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
   const float *w0 = weight + (long long)o * I, *w1 = weight + (long long)min(o + 1, O - 1) * I, *w2 = weight + (long long)min(o + 2, O - 1) * I,
               *w3 = weight + (long long)min(o + 3, O - 1) * I;
   for (int k = 0; k < I; k++) {
      const float v = x[(long long)row * I + k];
      s0 += v * w0[k], s1 += v * w1[k], s2 += v * w2[k], s3 += v * w3[k];
   }
   const float s[4] = {s0, s1, s2, s3};
   for (int c = 0; c < 4 && o + c < O && n < N; c++) {
      const float v = s[c] + bias[o + c];
      y[(long long)n * O + o + c] = v < 0 ? 0 : v;
   }
}
