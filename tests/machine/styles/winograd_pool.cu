/* rkb-kernel: 1
task: mnist_conv_relu_pool
direction: forward
algorithm: transform
launches:
  - kernel: filter
    grid: ceildiv(N * K * P * Q, 64)
    block: 64
    args: x, weight, bias, y, C, H, W, K, P, Q, N * K * P * Q
*/
// why: a pool takes the largest of a tile of minimal filtering, so its bound has to come from the tile's products and through relu
// task: mnist_conv_relu_pool
// standing: accept
// secrets: 24
// says: "facet":"memory"
// twin: SIGN + => should be
// twin: HALF 0.49999f => should be
// twin: KEPT(v) __half2float(__float2half(v)) => should be
#include <cuda_fp16.h>
#define SIGN -
#define HALF 0.5f
#define KEPT(v) (v)

/* B' d B of a tile of 4 x 4, in place. */
__device__ void transform_tile(float (&d)[4][4]) {
   for (int i = 0; i < 4; i++) {
      const float a = d[i][0] - d[i][2], b = d[i][1] + d[i][2], c = d[i][2] - d[i][1], e = d[i][1] - d[i][3];
      d[i][0] = a, d[i][1] = b, d[i][2] = c, d[i][3] = e;
   }
   for (int j = 0; j < 4; j++) {
      const float a = d[0][j] - d[2][j], b = d[1][j] + d[2][j], c = d[2][j] SIGN d[1][j], e = d[1][j] - d[3][j];
      d[0][j] = a, d[1][j] = b, d[2][j] = c, d[3][j] = e;
   }
}

/* G g G' of a window. */
__device__ void transform_window(const float *g, float (&u)[4][4]) {
   float rows[4][3];
   for (int j = 0; j < 3; j++) {
      rows[0][j] = g[j];
      rows[1][j] = HALF * (g[j] + g[3 + j] + g[6 + j]);
      rows[2][j] = 0.5f * (g[j] - g[3 + j] + g[6 + j]);
      rows[3][j] = g[6 + j];
   }
   for (int i = 0; i < 4; i++) {
      u[i][0] = rows[i][0];
      u[i][1] = 0.5f * (rows[i][0] + rows[i][1] + rows[i][2]);
      u[i][2] = 0.5f * (rows[i][0] - rows[i][1] + rows[i][2]);
      u[i][3] = rows[i][2];
   }
}

/* One thread a tile of 2 x 2 results, of which the pool keeps the largest. */
__global__ void filter(const float *x, const float *weight, const float *bias, float *y, int C, int H, int W, int K, int P, int Q, int count) {
   const int i = blockIdx.x * 64 + threadIdx.x;
   if (i >= count)
      return;
   const int q = i % Q * 2, p = i / Q % P * 2, k = i / (Q * P) % K, n = i / (Q * P) / K;
   float m[4][4] = {};
   for (int c = 0; c < C; c++) {
      float d[4][4], u[4][4];
      for (int t = 0; t < 16; t++)
         d[t / 4][t % 4] = x[((long long)(n * C + c) * H + p + t / 4) * W + q + t % 4];
      transform_tile(d);
      transform_window(weight + (long long)(k * C + c) * 9, u);
      for (int t = 0; t < 16; t++)
         m[t / 4][t % 4] += KEPT(u[t / 4][t % 4]) * d[t / 4][t % 4];
   }
   float largest = 0.0f;
   for (int t = 0; t < 4; t++) {
      const int a = t / 2, b = t % 2;
      float row[4];
      for (int j = 0; j < 4; j++)
         row[j] = a ? m[1][j] - m[2][j] - m[3][j] : m[0][j] + m[1][j] + m[2][j];
      const float sum = (b ? row[1] - row[2] - row[3] : row[0] + row[1] + row[2]) + bias[k];
      largest = sum <= largest || largest != largest ? largest : sum;
   }
   y[i] = largest;
}
