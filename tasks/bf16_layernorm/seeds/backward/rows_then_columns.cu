/* rkb-kernel: 1
task: bf16_layernorm
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  SLICE: {default: 256, choices: [64, 256, 1024]}
let:
  SLICES: ceildiv(R, SLICE)
scratch:
  statistics: {dtype: float32, shape: "R, 2"}
  sums: {dtype: float32, shape: "2, SLICES, D"}
launches:
  - kernel: rows<BLOCK>
    grid: R
    block: BLOCK
    args: grad_y, x, weight, grad_x, statistics, eps, D
  - kernel: columns
    grid: ceildiv(D, 32), SLICES
    block: 32, 8
    args: grad_y, x, statistics, sums, R, D, SLICE
  - kernel: add_slices
    grid: ceildiv(D, 256)
    block: 256
    args: sums, grad_weight, grad_bias, D, SLICES
*/

/* The first launch gives each row a block: its statistics, and grad_x = (g - mean(g) - n mean(g n)) / sigma, where g is the gradient
 * times the weight and n the normalised row.  The second adds up slices of the columns for grad_weight and grad_bias, the third adds
 * the slices, always in the same order. */

#include <cuda_bf16.h>

template <int block> __device__ float block_sum(float value) {
   __shared__ float of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   __syncthreads(); /* slow threads may still read the sums of the call before */
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   float sum = 0.0f;
   for (int warp = 0; warp < block / 32; warp++)
      sum += of_warp[warp];
   return sum;
}

template <int block>
__global__ void rows(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const __nv_bfloat16 *weight,
                     __nv_bfloat16 *grad_x, float *statistics, float eps, int D) {
   const __nv_bfloat16 *row = x + (long long)blockIdx.x * D, *grad = grad_y + (long long)blockIdx.x * D;
   float sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += block)
      sum += __bfloat162float(row[i]);
   const float mean = block_sum<block>(sum) / D;
   float squares = 0.0f;
   for (int i = threadIdx.x; i < D; i += block) {
      const float deviation = __bfloat162float(row[i]) - mean;
      squares += deviation * deviation;
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);
   float plain = 0.0f, with_norm = 0.0f;
   for (int i = threadIdx.x; i < D; i += block) {
      const float g = __bfloat162float(grad[i]) * __bfloat162float(weight[i]);
      plain += g;
      with_norm += g * (__bfloat162float(row[i]) - mean) * inverse;
   }
   const float mean_plain = block_sum<block>(plain) / D, mean_with_norm = block_sum<block>(with_norm) / D;
   for (int i = threadIdx.x; i < D; i += block) {
      const float g = __bfloat162float(grad[i]) * __bfloat162float(weight[i]);
      const float norm = (__bfloat162float(row[i]) - mean) * inverse;
      grad_x[(long long)blockIdx.x * D + i] = __float2bfloat16((g - mean_plain - norm * mean_with_norm) * inverse);
   }
   if (threadIdx.x == 0) {
      statistics[2 * (long long)blockIdx.x] = mean;
      statistics[2 * (long long)blockIdx.x + 1] = inverse;
   }
}

__global__ void columns(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const float *statistics, float *sums,
                        int R, int D, int slice) {
   __shared__ float parts[2][8][32];
   const int column = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * slice;
   const int end = first + slice < R ? first + slice : R;
   float with_norm = 0.0f, plain = 0.0f;
   for (int r = first + threadIdx.y; column < D && r < end; r += 8) {
      const float g = __bfloat162float(grad_y[(long long)r * D + column]);
      const float norm = (__bfloat162float(x[(long long)r * D + column]) - statistics[2 * (long long)r]) *
                         statistics[2 * (long long)r + 1];
      with_norm += g * norm;
      plain += g;
   }
   parts[0][threadIdx.y][threadIdx.x] = with_norm;
   parts[1][threadIdx.y][threadIdx.x] = plain;
   __syncthreads();
   if (threadIdx.y < 2 && column < D) {
      float sum = 0.0f;
      for (int part = 0; part < 8; part++)
         sum += parts[threadIdx.y][part][threadIdx.x];
      sums[((long long)threadIdx.y * gridDim.y + blockIdx.y) * D + column] = sum;
   }
}

__global__ void add_slices(const float *sums, __nv_bfloat16 *grad_weight, __nv_bfloat16 *grad_bias, int D, int slices) {
   const int column = blockIdx.x * 256 + threadIdx.x;
   if (column >= D)
      return;
   float weight = 0.0f, bias = 0.0f;
   for (int s = 0; s < slices; s++) {
      weight += sums[(long long)s * D + column];
      bias += sums[((long long)slices + s) * D + column];
   }
   grad_weight[column] = __float2bfloat16(weight);
   grad_bias[column] = __float2bfloat16(bias);
}
