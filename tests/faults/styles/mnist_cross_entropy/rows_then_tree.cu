/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
scratch:
  of_row: {dtype: float32, shape: "N"}
launches:
  - kernel: rows
    grid: ceildiv(N, 64)
    block: 64
    args: predictions, targets, of_row, N, C
  - kernel: tree
    grid: 1
    block: 512
    args: of_row, loss, N
*/
/* A thread a row, online; then a tree in shared memory. */
__global__ void rows(const float *predictions, const long long *targets, float *of_row, int N, int C) {
   const int n = blockIdx.x * 64 + threadIdx.x;
   if (n >= N)
      return;
   const float *row = predictions + (long long)n * C;
   float m = row[0], s = 1;
   for (int c = 1; c < C; c++)
      if (row[c] > m) {
         s = s * expf(m - row[c]) + 1;
         m = row[c];
      } else {
         s += expf(row[c] - m);
      }
   of_row[n] = m + logf(s) - row[targets[n]];
}

__global__ void tree(const float *of_row, float *loss, int N) {
   __shared__ float part[512];
   float mine = 0;
   for (int n = threadIdx.x; n < N; n += 512)
      mine += of_row[n];
   part[threadIdx.x] = mine;
   for (int width = 256; width; width /= 2) {
      __syncthreads();
      if (threadIdx.x < width)
         part[threadIdx.x] += part[threadIdx.x + width];
   }
   if (threadIdx.x == 0)
      loss[0] = part[0] / (float)N;
}
