/* rkb-kernel: 1
task: mnist_cross_entropy
direction: backward
tune:
  BLOCK: {default: 128, choices: [32, 64, 128, 256, 512]}
launches:
  - kernel: grad_of_row<BLOCK>
    grid: N
    block: BLOCK
    args: grad_loss, predictions, targets, grad_predictions, N, C
*/

/* grad = (softmax(x) - (class is the target)) * grad_loss / N.  One block owns one row, which pays where there are many
 * classes. */

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
__global__ void grad_of_row(const float *grad_loss, const float *predictions, const long long *targets,
                            float *grad_predictions, int N, int C) {
   const float *row = predictions + (long long)blockIdx.x * C;
   float *out = grad_predictions + (long long)blockIdx.x * C;
   const long long target = targets[blockIdx.x];

   float largest = -3.402823466e38f;
   for (int i = threadIdx.x; i < C; i += block)
      largest = fmaxf(largest, row[i]);
   largest = block_max<block>(largest);

   float sum = 0.0f;
   for (int i = threadIdx.x; i < C; i += block)
      sum += expf(row[i] - largest);
   const float inverse = 1.0f / block_sum<block>(sum);
   const float scale = grad_loss[0] / N;

   for (int i = threadIdx.x; i < C; i += block) {
      const float share = expf(row[i] - largest) * inverse;
      out[i] = (share - (i == target ? 1.0f : 0.0f)) * scale;
   }
}
