/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
let:
  half: ceildiv(N, 2)
scratch:
  partial: {dtype: float32, shape: "ceildiv(N, 64)"}
  counter: {dtype: int32, shape: "1", init: zero}
launches:
  - kernel: loss_part
    grid: ceildiv(half, 64)
    block: 64
    args: predictions, targets, partial, counter, loss, 0, half, N, C
  - kernel: loss_part
    grid: ceildiv(N - half, 64)
    block: 64
    args: predictions, targets, partial, counter, loss, half, N, N, C
*/

/* A correct but delicate kernel for the fault operators: the last block to finish adds up what the others left, and resets the
 * counter, because the second half of the rows uses it again. */

__global__ void loss_part(const float *predictions, const long long *targets, float *partial, unsigned *counter, float *loss,
                          int first, int last, int N, int C) {
   __shared__ float sums[64];
   __shared__ bool is_last;
   const int row = first + blockIdx.x * 64 + threadIdx.x;
   float value = 0.0f;
   if (row < last) {
      const float *at = predictions + (long long)row * C;
      float largest = at[0];
      for (int i = 1; i < C; i++)
         largest = fmaxf(largest, at[i]);
      float sum = 0.0f;
      for (int i = 0; i < C; i++)
         sum += expf(at[i] - largest);
      value = logf(sum) - (at[targets[row]] - largest);
   }
   sums[threadIdx.x] = value;
   __syncthreads();
   for (int width = 32; width > 0; width /= 2) {
      if (threadIdx.x < width)
         sums[threadIdx.x] += sums[threadIdx.x + width];
      __syncthreads();
   }
   if (threadIdx.x == 0) {
      partial[blockIdx.x] = sums[0];
      __threadfence();
      is_last = atomicAdd(counter, 1u) == gridDim.x - 1;
   }
   __syncthreads();
   if (is_last && threadIdx.x == 0) {
      float total = 0.0f;
      for (int block = 0; block < gridDim.x; block++)
         total += partial[block];
      loss[0] = first == 0 ? total / N : loss[0] + total / N;
      counter[0] = 0;
   }
}
