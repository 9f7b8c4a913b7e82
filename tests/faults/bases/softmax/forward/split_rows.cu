/* rkb-kernel: 1
task: softmax
direction: forward
let:
  parts: min(8, ceildiv(D, 128))
scratch:
  partial: {dtype: float32, shape: "N, 8"}
  tickets: {dtype: int32, shape: "N", init: zero}
  largest: {dtype: float32, shape: "N"}
  total: {dtype: float32, shape: "N"}
launches:
  - kernel: row_largest
    grid: parts, N
    block: 128
    args: x, partial, tickets, largest, D
  - kernel: row_total
    grid: parts, N
    block: 128
    args: x, largest, partial, tickets, total, D
  - kernel: divide
    grid: parts, N
    block: 128
    args: x, largest, total, y, D
*/

/* A correct but delicate kernel for the fault operators: several blocks share a row, and the one that finishes last puts their
 * results together, twice over the same tickets. */

__global__ void row_largest(const float *x, float *partial, unsigned *tickets, float *largest, int D) {
   __shared__ float of_warp[4];
   __shared__ bool is_last;
   const float *row = x + (long long)blockIdx.y * D;
   float best = row[0];
   for (int i = blockIdx.x * 128 + threadIdx.x; i < D; i += gridDim.x * 128)
      best = fmaxf(best, row[i]);
   for (int distance = 16; distance > 0; distance /= 2)
      best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, distance));
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = best;
   __syncthreads();
   if (threadIdx.x == 0) {
      partial[blockIdx.y * 8 + blockIdx.x] = fmaxf(fmaxf(of_warp[0], of_warp[1]), fmaxf(of_warp[2], of_warp[3]));
      __threadfence();
      is_last = atomicAdd(&tickets[blockIdx.y], 1u) == gridDim.x - 1;
   }
   __syncthreads();
   if (is_last && threadIdx.x == 0) {
      __threadfence();
      float all = partial[blockIdx.y * 8];
      for (int part = 1; part < gridDim.x; part++)
         all = fmaxf(all, partial[blockIdx.y * 8 + part]);
      largest[blockIdx.y] = all;
      tickets[blockIdx.y] = 0;
   }
}

__global__ void row_total(const float *x, const float *largest, float *partial, unsigned *tickets, float *total, int D) {
   __shared__ float of_warp[4];
   __shared__ bool is_last;
   const float *row = x + (long long)blockIdx.y * D;
   const float shift = largest[blockIdx.y];
   float sum = 0.0f;
   for (int i = blockIdx.x * 128 + threadIdx.x; i < D; i += gridDim.x * 128)
      sum += expf(row[i] - shift);
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = sum;
   __syncthreads();
   if (threadIdx.x == 0) {
      partial[blockIdx.y * 8 + blockIdx.x] = of_warp[0] + of_warp[1] + of_warp[2] + of_warp[3];
      __threadfence();
      is_last = atomicAdd(&tickets[blockIdx.y], 1u) == gridDim.x - 1;
   }
   __syncthreads();
   if (is_last && threadIdx.x == 0) {
      __threadfence();
      float all = 0.0f;
      for (int part = 0; part < gridDim.x; part++)
         all += partial[blockIdx.y * 8 + part];
      total[blockIdx.y] = all;
      tickets[blockIdx.y] = 0;
   }
}

__global__ void divide(const float *x, const float *largest, const float *total, float *y, int D) {
   const float shift = largest[blockIdx.y], sum = total[blockIdx.y];
   for (int i = blockIdx.x * 128 + threadIdx.x; i < D; i += gridDim.x * 128) {
      const long long at = (long long)blockIdx.y * D + i;
      y[at] = expf(x[at] - shift) / sum;
   }
}
