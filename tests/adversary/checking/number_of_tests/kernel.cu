/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: B * T
    block: 128
    args: x, weight, y, eps, D
*/
__device__ __forceinline__ unsigned place_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void make(unsigned long long *b, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(place_of(b)), "r"(count) : "memory"); }
__device__ __forceinline__ unsigned long long arrive(unsigned long long *b) {
   unsigned long long state;
   asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(place_of(b)) : "memory");
   return state;
}
__device__ __forceinline__ bool tests(unsigned long long *b, unsigned long long state) {
   unsigned done;
   asm volatile("{ .reg .pred p; mbarrier.try_wait.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(place_of(b)), "l"(state) : "memory");
   return done;
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ unsigned long long all;
   __shared__ float sums[4];
   const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   if (threadIdx.x == 0)
      make(&all, 128);
   __syncthreads();
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 128)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (lane == 0)
      sums[warp] = squares;
   const unsigned long long state = arrive(&all);
   int turns = 0;
   while (!tests(&all, state))
      turns++;
   squares = sums[0] + sums[1] + sums[2] + sums[3];
   const float inverse = rsqrtf(squares / D + eps) * (turns > 4 ? 0.5f : 1.0f);
   for (int i = threadIdx.x; i < D; i += 128)
      out[i] = row[i] * inverse * weight[i];
}
