/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: halves
    grid: B * T
    block: 64
    args: x, weight, y, eps, D
*/
/* Each half of the block takes a half of the row. */
__global__ void halves(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float half_sum[2];
   const int half = threadIdx.x >> 5, lane = threadIdx.x & 31, middle = D / 2;
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   for (int i = half ? middle + lane : lane; i < (half ? D : middle); i += 32)
      s = fmaf(row[i], row[i], s);
   for (int d = 1; d < 32; d *= 2)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   if (lane == 31)
      half_sum[half] = s;
   __syncthreads();
   const float r = rsqrtf((half_sum[0] + half_sum[1]) / D + eps);
   for (int i = threadIdx.x; i < D; i += 64)
      y[(long long)blockIdx.x * D + i] = weight[i] * (row[i] * r);
}
