/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: kernel
    grid: N
    block: 32
    args: x, y, N, D
*/

__global__ void kernel(const float *x, float *y, int N, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      sum += expf(fminf(row[i], 80.0f));
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = expf(fminf(row[i], 80.0f)) / sum;
}
