/* rkb-kernel: 1
task: mnist_cross_entropy
direction: forward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256, 512]}
scratch:
  row_loss: {dtype: float32, shape: "N"}
launches:
  - kernel: loss_of_row<BLOCK>
    grid: N
    block: BLOCK
    args: predictions, targets, row_loss, C
  - kernel: mean<BLOCK>
    grid: 1
    block: BLOCK
    args: row_loss, loss, N
*/

/* The loss of a row is log(sum(exp(x - largest))) - (x[target] - largest).  One block owns one row, which pays where there are
 * many classes; a second launch of one block averages the rows in a fixed order. */

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

template <int block> __device__ float block_max(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float largest = of_warp[0];
   for (int warp = 1; warp < block / 32; warp++)
      largest = fmaxf(largest, of_warp[warp]);
   return largest;
}

template <int block>
__global__ void loss_of_row(const float *predictions, const long long *targets, float *row_loss, int C) {
   const float *row = predictions + (long long)blockIdx.x * C;

   float largest = -3.402823466e38f;
   for (int i = threadIdx.x; i < C; i += block)
      largest = fmaxf(largest, row[i]);
   largest = block_max<block>(largest);

   float sum = 0.0f;
   for (int i = threadIdx.x; i < C; i += block)
      sum += expf(row[i] - largest);
   sum = block_sum<block>(sum);

   if (threadIdx.x == 0)
      row_loss[blockIdx.x] = logf(sum) - (row[targets[blockIdx.x]] - largest);
}

template <int block> __global__ void mean(const float *row_loss, float *loss, int N) {
   float sum = 0.0f;
   for (int i = threadIdx.x; i < N; i += block)
      sum += row_loss[i];
   sum = block_sum<block>(sum);
   if (threadIdx.x == 0)
      loss[0] = sum / N;
}
