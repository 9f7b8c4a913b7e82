/* rkb-kernel: 1
task: mnist_cross_entropy
direction: backward
tune:
  WARPS: {default: 16, choices: [1, 2, 4, 8, 16]}
launches:
  - kernel: grad_of_rows<WARPS>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: grad_loss, predictions, targets, grad_predictions, N, C
*/

/* grad = (softmax(x) - (class is the target)) * grad_loss / N.  One warp owns one row and needs shuffles alone. */

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

template <int warps>
__global__ void grad_of_rows(const float *grad_loss, const float *predictions, const long long *targets,
                             float *grad_predictions, int N, int C) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const float *row = predictions + index * C;
   float *out = grad_predictions + index * C;

   float largest = -3.402823466e38f;
   for (int i = lane; i < C; i += 32)
      largest = fmaxf(largest, row[i]);
   largest = warp_max(largest);

   float sum = 0.0f;
   for (int i = lane; i < C; i += 32)
      sum += expf(row[i] - largest);
   const float inverse = 1.0f / warp_sum(sum);
   const float scale = grad_loss[0] / N;

   for (int i = lane; i < C; i += 32) {
      const float share = expf(row[i] - largest) * inverse;
      out[i] = (share - (i == targets[index] ? 1.0f : 0.0f)) * scale;
   }
}
