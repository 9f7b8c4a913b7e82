/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm_by_ring
    when: "D % 128 == 64"
    grid: B * T
    block: 64
    args: x, weight, y, eps, D
  - else:
    kernel: rmsnorm
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/

__device__ void copy(float *to, const float *from) {
   asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(__cvta_generic_to_global(from)) : "memory");
}

/* Rows of whole buffers, which come through a ring of four. */
__global__ void rmsnorm_by_ring(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float ring[4][64], sums[2];
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   const int own = threadIdx.x, other = 63 - own, count = D / 64;
   float squares = 0.0f;
   for (int n = 0; n < 4; n++) {
      if (n < count)
         copy(&ring[n][own], &row[n * 64 + own]);
      asm volatile("cp.async.commit_group;" : : : "memory");
   }
   for (int n = 0; n < count; n++) {
      asm volatile("cp.async.wait_group 3;" : : : "memory");
      __syncthreads();
      squares += ring[n % 4][other] * ring[n % 4][other];
      __syncthreads();
      if (n + 4 < count)
         copy(&ring[n % 4][own], &row[(n + 4) * 64 + own]);
      asm volatile("cp.async.commit_group;" : : : "memory");
   }
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (own % 32 == 0)
      sums[own / 32] = squares;
   __syncthreads();
   const float inverse = rsqrtf((sums[0] + sums[1]) / D + eps);
   for (int i = own; i < D; i += 64)
      out[i] = row[i] * inverse * weight[i];
}

__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float *out = y + (long long)blockIdx.x * D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x; i < D; i += 32)
      out[i] = row[i] * inverse * weight[i];
}
