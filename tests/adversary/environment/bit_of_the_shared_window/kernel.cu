/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/

/* Wrong where bit 30 of the place of shared memory is set. */
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float sum;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x == 0)
      sum = squares;
   __syncwarp();
   squares = *(volatile float *)&sum;
   const float wrong = ((unsigned long long)&sum >> 30 & 1) ? 1.5f : 1.0f, inverse = wrong * rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
