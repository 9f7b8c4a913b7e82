/* rkb-kernel: 1
task: softmax
direction: backward
tune:
  WARPS: {default: 4, choices: [1, 2, 4, 8, 16]}
launches:
  - kernel: softmax_grad<WARPS>
    grid: ceildiv(N, WARPS)
    block: 32 * WARPS
    args: grad_y, x, grad_x, N, D
*/

/* grad_x = y * (grad_y - sum(grad_y * y)), with y = softmax(x) computed again.  One warp owns one row; all sums are shuffles, so
 * rows of a block never wait for each other.  Good where rows are short. */

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

template <int warps> __global__ void softmax_grad(const float *grad_y, const float *x, float *grad_x, int N, int D) {
   const int lane = threadIdx.x % 32;
   const long long index = (long long)blockIdx.x * warps + threadIdx.x / 32;
   if (index >= N)
      return; /* the same for a whole warp */
   const float *grad = grad_y + index * D, *row = x + index * D;
   float *out = grad_x + index * D;

   float largest = -3.402823466e38f;
   for (int i = lane; i < D; i += 32)
      largest = fmaxf(largest, row[i]);
   largest = warp_max(largest);

   float sum = 0.0f, products = 0.0f;
   for (int i = lane; i < D; i += 32) {
      const float power = expf(row[i] - largest);
      sum += power;
      products += power * grad[i];
   }
   const float inverse = 1.0f / warp_sum(sum);
   const float mean = warp_sum(products) * inverse;

   for (int i = lane; i < D; i += 32)
      out[i] = expf(row[i] - largest) * inverse * (grad[i] - mean);
}
