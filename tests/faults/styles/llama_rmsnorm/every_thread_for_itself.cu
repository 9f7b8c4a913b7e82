/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: each
    grid: B * T
    block: min(D, 256)
    args: x, weight, y, eps, D
*/
/* Every thread adds up the whole row: no thread waits for another. */
__global__ void each(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float s[4] = {0, 0, 0, 0};
   int i = 0;
   for (; i + 3 < D; i += 4)
      for (int k = 0; k < 4; k++)
         s[k] += row[i + k] * row[i + k];
   for (; i < D; i++)
      s[0] += row[i] * row[i];
   const float r = rsqrtf((s[0] + s[1] + s[2] + s[3]) / D + eps);
   for (int c = threadIdx.x; c < D; c += blockDim.x)
      y[(long long)blockIdx.x * D + c] = row[c] * r * weight[c];
}
