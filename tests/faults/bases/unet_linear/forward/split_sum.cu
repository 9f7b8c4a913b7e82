/* rkb-kernel: 1
task: unet_linear
direction: forward
let:
  rows: N * T
  half: ceildiv(rows, 2)
  splits: min(4, ceildiv(I, 32))
scratch:
  partial: {dtype: float32, shape: "4, half * O"}
  tickets: {dtype: int32, shape: "ceildiv(half * O, 128)", init: zero}
launches:
  - kernel: linear_part
    grid: ceildiv(half * O, 128), splits
    block: 128
    args: x, weight, bias, y, partial, tickets, 0, half, I, O
  - kernel: linear_part
    grid: ceildiv((rows - half) * O, 128), splits
    block: 128
    args: x, weight, bias, y, partial, tickets, half, rows - half, I, O
*/

/* A correct but delicate kernel for the fault operators: the dot products are split over blocks, and the last block of a tile adds
 * the parts and the bias.  The second half of the rows uses the tickets again. */

__global__ void linear_part(const float *x, const float *weight, const float *bias, float *y, float *partial, unsigned *tickets,
                            int first, int rows, int I, int O) {
   __shared__ bool is_last;
   const int at = blockIdx.x * 128 + threadIdx.x;
   const int begin = blockIdx.y * I / gridDim.y, end = (blockIdx.y + 1) * I / gridDim.y;
   if (at < rows * O) {
      const float *row = x + (long long)(first + at / O) * I;
      float sum = 0.0f;
      for (int i = begin; i < end; i++)
         sum += row[i] * weight[at % O * I + i];
      partial[blockIdx.y * rows * O + at] = sum;
   }
   __threadfence();
   __syncthreads();
   if (threadIdx.x == 0)
      is_last = atomicAdd(&tickets[blockIdx.x], 1u) == gridDim.y - 1;
   __syncthreads();
   if (is_last && at < rows * O) {
      __threadfence();
      float all = bias[at % O];
      for (int part = 0; part < gridDim.y; part++)
         all += partial[part * rows * O + at];
      y[(long long)first * O + at] = all;
   }
   if (is_last && threadIdx.x == 0)
      tickets[blockIdx.x] = 0;
}
