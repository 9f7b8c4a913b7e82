/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
let:
  rows: B * T
launches:
  - kernel: rows_of_a_block
    when: D % 4 == 0 and D >= 2048 and D <= 8192
    grid: min(rows, 264)
    block: 256
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

/* A block takes every so many rows.  The first warp says by a barrier of its own that the last row's sum is read. */
__global__ void __launch_bounds__(256) rows_of_a_block(const float *x, const float *weight, float *y, float eps, int rows, int D) {
   __shared__ float scale;
   int turn = 0;
   for (int row = blockIdx.x; row < rows; row += gridDim.x, turn++) {
      const float squares = squares_of(x + (long long)row * D, threadIdx.x, 256, D);
      if (threadIdx.x == 0)
         scale = rsqrtf(squares / D + eps);
      if (threadIdx.x < 32)
         asm volatile("bar.arrive 1, 256;" ::: "memory");
      else if (threadIdx.x >= 32)
         asm volatile("bar.sync 1, 256;" ::: "memory");
      __syncwarp();
      for (int i = threadIdx.x; i < D; i += 256)
         y[(long long)row * D + i] = x[(long long)row * D + i] * scale * weight[i];
      __syncthreads();
   }
}
