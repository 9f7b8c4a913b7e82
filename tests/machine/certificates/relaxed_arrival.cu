/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
// why: a fence and a relaxed arrival pass on the sum; that no end of a copy is learned between the two is not looked at
// standing: accept
// says: ends of copies that a thread learns of between a fence and its relaxed arrival are taken to be released by the arrival
// never: bulk copies
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float total;
   __shared__ unsigned long long told;
   const unsigned place = (unsigned)__cvta_generic_to_shared(&told);
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = lane; i < D; i += 32)
      sum += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (lane == 0)
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(place) : "memory");
   __syncwarp();
   if (lane == 0) {
      total = sum;
      asm volatile("fence.acq_rel.cta;" ::: "memory");
      asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(place) : "memory");
   }
   unsigned done = 0;
   while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(place) : "memory");
   const float inverse = rsqrtf(total / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
