/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
__device__ __forceinline__ float get(float *p) {
   float value;
   asm volatile("ld.relaxed.cta.shared.f32 %0, [%1];" : "=f"(value) : "r"((unsigned)__cvta_generic_to_shared(p)) : "memory");
   return value;
}
__device__ __forceinline__ void put(float *p, float value) { asm volatile("st.relaxed.cta.shared.f32 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(p)), "f"(value) : "memory"); }
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float sums[64];
   const int lane = threadIdx.x;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = lane; i < D; i += 32)
      squares += row[i] * row[i];
   put(&sums[lane], squares);
   put(&sums[lane + 32], 0.0f);
   __syncwarp();
   for (int distance = 16; distance > 0; distance /= 2) {
      const float other = get(&sums[lane + distance]);
      __syncwarp();
      squares += other;
      put(&sums[lane], squares);
      __syncwarp();
   }
   const float inverse = rsqrtf(get(&sums[0]) / D + eps);
   for (int i = lane; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
