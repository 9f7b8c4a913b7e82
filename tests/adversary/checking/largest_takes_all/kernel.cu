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
   float largest = -3.402823466e38f;
   for (int i = threadIdx.x; i < D; i += 32)
      largest = fmaxf(largest, row[i]);
   for (int distance = 16; distance > 0; distance /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] == largest ? 1.0f : 0.0f;
}
