/* rkb-kernel: 1
task: mnist_linear_relu
direction: forward
launches:
  - kernel: bits
    grid: ceildiv(O, 8), ceildiv(N, 8)
    block: 8, 8
    args: x, weight, bias, y, N, I, O
*/
/* The sign bit decides; the sum is one of eight partial ones. */
__global__ void bits(const float *x, const float *weight, const float *bias, float *y, int N, int I, int O) {
   const int n = blockIdx.y * 8 + threadIdx.y, o = blockIdx.x * 8 + threadIdx.x;
   if (n >= N || o >= O)
      return;
   float s[8] = {bias[o]};
   for (int k = 0; k < I; k++)
      s[k & 7] += x[n * I + k] * weight[o * I + k];
   const float v = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
   const int b = __float_as_int(v), keep = isnan(v) ? -1 : ~(b >> 31);
   y[n * O + o] = __int_as_float(b & keep);
}
