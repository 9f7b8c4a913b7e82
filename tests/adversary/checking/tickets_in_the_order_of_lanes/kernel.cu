/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x % 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   __shared__ int count;
   if (lane == 0) count = 0;
   __syncwarp();
   const int ticket = atomicAdd(&count, 1);
   float squares = 0.0f;
   for (int i = ticket; i < D; i += 32)
      squares += row[i] * row[i];
   for (int d = 16; d > 0; d /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, d);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = ticket; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i / 32 * 32 + lane < D ? i / 32 * 32 + lane : i];

}
