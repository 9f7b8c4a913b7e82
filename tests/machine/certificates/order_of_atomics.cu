/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: the sum depends on the order of floating-point atomics: the values facet has to say so
// standing: accept
// says: the sum depends on the order
// says: "orders":["ascending","descending","shuffled"]
// never: "schedules":"one"
// never: "schedules":"all"
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   __shared__ float total;
   if (lane == 0)
      total = 0.0f;
   __syncthreads();
   for (int i = lane; i < D; i += 32)
      atomicAdd(&total, row[i] * row[i]);
   __syncthreads();
   const float inverse = rsqrtf(total / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
