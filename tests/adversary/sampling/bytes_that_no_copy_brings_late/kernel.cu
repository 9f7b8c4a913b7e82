/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: copied_rows
    when: D % 4 == 0 and D >= 2048 and D <= 8192
    grid: min(rows, 264)
    block: 256
    shared: 4 * D
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

__device__ void write_row(const float *row, const float *weight, float *out, float eps, int D) {
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += 256)
      squares += row[i] * row[i];
   const float scale = rsqrtf(block_sum(squares) / D + eps);
   for (int i = threadIdx.x; i < D; i += 256)
      out[i] = row[i] * scale * weight[i];
}

__global__ void __launch_bounds__(256) plain_rows(const float *x, const float *weight, float *y, float eps, int D) {
   write_row(x + (long long)blockIdx.x * D, weight, y + (long long)blockIdx.x * D, eps, D);
}

/* A block takes every so many rows; a bulk copy brings each to shared memory. */
__global__ void __launch_bounds__(256) copied_rows(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   extern __shared__ __align__(16) float row_of[];
   __shared__ unsigned long long arrived;
   const unsigned barrier = (unsigned)__cvta_generic_to_shared(&arrived), to = (unsigned)__cvta_generic_to_shared(row_of);
   if (threadIdx.x == 0)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier) : "memory");
   __syncthreads();
   unsigned turn = 0;
   for (int row = blockIdx.x; row < rows; row += gridDim.x, turn++) {
      if (threadIdx.x == 0) {
         const unsigned bytes = 4 * D + (turn >= 32 ? 16 : 0);
         asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
         asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
         asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                      "l"(__cvta_generic_to_global(x + (long long)row * D)), "r"(4 * D), "r"(barrier)
                      : "memory");
      }
      unsigned done = 0;
      while (!done)
         asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
                      : "=r"(done)
                      : "r"(barrier), "r"(turn & 1)
                      : "memory");
      write_row(row_of, weight, y + (long long)row * D, eps, D);
      __syncthreads();
   }
}
