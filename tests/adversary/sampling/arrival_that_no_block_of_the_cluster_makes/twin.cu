/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rows_of_a_cluster
    when: D % 4 == 0 and D >= 2048 and D <= 8192
    grid: 2 * min(rows, 132)
    block: 256
    cluster: 2
    args: x, weight, y, eps, rows, D
  - else:
    kernel: plain_rows
    grid: rows
    block: 256
    args: x, weight, y, eps, D
*/

__device__ float block_sum(float mine) {
   __shared__ float of_warp[8];
   for (int distance = 16; distance > 0; distance /= 2)
      mine += __shfl_xor_sync(0xffffffffu, mine, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = mine;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < 8; warp++)
      total += of_warp[warp];
   __syncthreads();
   return total;
}

__device__ float squares_of(const float *row, int first, int step, int D) {
   float squares = 0.0f;
   for (int i = first; i < D; i += step)
      squares += row[i] * row[i];
   return block_sum(squares);
}

__global__ void __launch_bounds__(256) plain_rows(const float *x, const float *weight, float *y, float eps, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   const float scale = rsqrtf(squares_of(row, threadIdx.x, 256, D) / D + eps);
   for (int i = threadIdx.x; i < D; i += 256)
      y[(long long)blockIdx.x * D + i] = row[i] * scale * weight[i];
}

__device__ void cluster_barrier() {
   asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/* Two blocks take each row, half of it each.  A block sends its sum to the other one, and arrives at its mbarrier. */
__global__ void __launch_bounds__(256) rows_of_a_cluster(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   __shared__ unsigned long long arrived;
   __shared__ float sums[2];
   const unsigned rank = blockIdx.x % 2, barrier = (unsigned)__cvta_generic_to_shared(&arrived), sum = (unsigned)__cvta_generic_to_shared(sums);
   unsigned other_barrier, other_sum;
   asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other_barrier) : "r"(barrier), "r"(rank ^ 1));
   asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other_sum) : "r"(sum), "r"(rank ^ 1));
   if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(barrier) : "memory");
   cluster_barrier();
   unsigned turn = 0;
   for (int row = blockIdx.x / 2; row < rows; row += gridDim.x / 2, turn++) {
      const float *from = x + (long long)row * D;
      const float mine = squares_of(from, threadIdx.x + 256 * rank, 512, D);
      if (threadIdx.x == 0) {
         asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(other_sum + 4 * (turn % 2)), "f"(mine) : "memory");
         asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(other_barrier) : "memory");
      }
      unsigned done = 0;
      while (!done)
         asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                      : "=r"(done)
                      : "r"(barrier), "r"(turn & 1)
                      : "memory");
      const float scale = rsqrtf((mine + sums[turn % 2]) / D + eps);
      for (int i = threadIdx.x + 256 * rank; i < D; i += 512)
         y[(long long)row * D + i] = from[i] * scale * weight[i];
      __syncthreads();
   }
   cluster_barrier();
}
