/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
tune:
  WARPS: {default: 16, choices: [1, 2, 4, 8, 16]}
  BLOCK: {default: 256, choices: [64, 128, 256, 512, 1024]}
scratch:
  row_loss: {dtype: float32, shape: "N"}
launches:
  - kernel: loss_of_rows<WARPS>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: predictions, targets, row_loss, N, C
  - kernel: mean<BLOCK>
    grid: 1
    block: BLOCK
    args: row_loss, loss, N
*/

/* The loss of a row is log(sum(exp(x - largest))) - (x[target] - largest).  One warp owns one row; a second launch of one block
 * averages the rows in a fixed order. */

__device__ float warp_sum(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   return value;
}

__device__ float warp_max(float value) {
   for (int distance = 16; distance > 0; distance /= 2)
      value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
   return value;
}

/* Sum over the block, returned to every thread: shuffles inside a warp, then one number a warp through shared memory.
 * The first barrier lets it be called again while slow threads still read the numbers of the call before. */
template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float total = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      total += of_warp[warp];
   return total;
}

template <int warps>
__global__ void loss_of_rows(const float *predictions, const long long *targets, float *row_loss, int N, int C) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const float *row = predictions + index * C;

   float largest = -3.402823466e38f;
   for (int i = lane; i < C; i += 32)
      largest = fmaxf(largest, row[i]);
   largest = warp_max(largest);

   float sum = 0.0f;
   for (int i = lane; i < C; i += 32)
      sum += expf(row[i] - largest);
   sum = warp_sum(sum);

   if (lane == 0)
      row_loss[index] = logf(sum) - (row[targets[index]] - largest);
}

template <int block> __global__ void mean(const float *__restrict__ row_loss, float *__restrict__ loss, int N) {
   float sum = 0.0f;
   for (int i = threadIdx.x; i < N; i += block)
      sum += row_loss[i];
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      loss[0] = sum / N;
}
