/* rkb-kernel: 1
task: bf16_layernorm
direction: backward
let:
  slices: ceildiv(R, 256)
scratch:
  mean_scale: {dtype: float32, shape: "R, 2"}
  of_slice: {dtype: float32, shape: "slices, 2, D"}
launches:
  - kernel: grad_rows
    grid: R
    block: 256
    args: grad_y, x, weight, grad_x, mean_scale, eps, D
  - kernel: sum_slices
    grid: ceildiv(D, 64), slices
    block: 64
    args: grad_y, x, mean_scale, of_slice, R, D
  - kernel: add_slices
    grid: ceildiv(D, 64)
    block: 64
    args: of_slice, grad_weight, grad_bias, D, slices
*/

#include <cuda_bf16.h>

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

/* A block owns a row. */
__global__ void __launch_bounds__(256) grad_rows(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                                                 __nv_bfloat16 *grad_x, float *mean_scale, float eps, int D) {
   const long long row = (long long)blockIdx.x * D;
   float sum = 0.0f, squares = 0.0f, plain = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < D; i += 256)
      sum += __bfloat162float(x[row + i]);
   const float mean = block_sum(sum) / D;
   for (int i = threadIdx.x; i < D; i += 256) {
      const float value = __bfloat162float(x[row + i]) - mean;
      squares += value * value;
   }
   const float scale = rsqrtf(block_sum(squares) / D + eps);
   for (int i = threadIdx.x; i < D; i += 256) {
      const float grad = __bfloat162float(grad_y[row + i]) * __bfloat162float(weight[i]);
      plain += grad;
      products += grad * (__bfloat162float(x[row + i]) - mean) * scale;
   }
   const float push = block_sum(plain) / D, pull = block_sum(products) / D;
   for (int i = threadIdx.x; i < D; i += 256) {
      const float grad = __bfloat162float(grad_y[row + i]) * __bfloat162float(weight[i]);
      grad_x[row + i] = __float2bfloat16(scale * (grad - push - (__bfloat162float(x[row + i]) - mean) * scale * pull));
   }
   if (threadIdx.x == 0) {
      mean_scale[2 * blockIdx.x] = mean;
      mean_scale[2 * blockIdx.x + 1] = scale;
   }
}

/* A thread owns a column of a slice of 256 rows. */
__global__ void __launch_bounds__(64) sum_slices(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const float *mean_scale, float *of_slice,
                                                 int R, int D) {
   const int column = blockIdx.x * 64 + threadIdx.x, first = blockIdx.y * 256, last = min(first + 256, R);
   float with_value = 0.0f, plain = 0.0f;
   if (column >= D)
      return;
   for (int row = first; row < last; row++) {
      const float grad = __bfloat162float(grad_y[(long long)row * D + column]);
      with_value += grad * (__bfloat162float(x[(long long)row * D + column]) - mean_scale[2 * row]) * mean_scale[2 * row + 1];
      plain += grad;
   }
   of_slice[2ll * blockIdx.y * D + column] = with_value;
   of_slice[(2ll * blockIdx.y + 1) * D + column] = plain;
}

/* Small shapes have one slice. */
__global__ void __launch_bounds__(64) add_slices(const float *of_slice, __nv_bfloat16 *grad_weight, __nv_bfloat16 *grad_bias, int D,
                                                 int slices) {
   const int column = blockIdx.x * 64 + threadIdx.x;
   float with_value = 0.0f, plain = 0.0f;
   if (column >= D)
      return;
   for (int slice = 0; slice < slices; slice++) {
      with_value += of_slice[2ll * slice * D + column];
      plain += of_slice[(2ll * slice + 1) * D + column];
   }
   grad_weight[column] = __float2bfloat16(with_value);
   grad_bias[column] = __float2bfloat16(plain);
}
