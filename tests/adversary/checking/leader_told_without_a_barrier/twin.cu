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
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += blockDim.x)
      squares += row[i] * row[i];
   for (int d = 16; d > 0; d /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, d);
   __shared__ float total;
   if (lane == 0) asm volatile("st.relaxed.cta.shared.f32 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(&total)), "f"(squares) : "memory");
   __syncwarp();
   asm volatile("ld.relaxed.cta.shared.f32 %0, [%1];" : "=f"(squares) : "r"((unsigned)__cvta_generic_to_shared(&total)) : "memory");
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += blockDim.x)
      out[i] = row[i] * inverse * weight[i];

}
