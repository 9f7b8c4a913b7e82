/* rkb-kernel: 1
task: bf16_rmsnorm_residual
direction: backward
tune:
  BLOCK: {default: 256, choices: [64, 128, 256, 512]}
  SLICE: {default: 256, choices: [64, 256, 1024]}
let:
  SLICES: ceildiv(R, SLICE)
scratch:
  inverses: {dtype: float32, shape: "R"}
  sums: {dtype: float32, shape: "SLICES, D"}
launches:
  - kernel: rows<BLOCK, 2>
    when: D % 2 == 0
    grid: R
    block: BLOCK
    args: grad_sum, grad_y, x, residual, weight, grad_x, grad_residual, inverses, eps, D
  - else:
    kernel: rows<BLOCK, 1>
    grid: R
    block: BLOCK
    args: grad_sum, grad_y, x, residual, weight, grad_x, grad_residual, inverses, eps, D
  - kernel: columns
    grid: ceildiv(D, 32), SLICES
    block: 32, 8
    args: grad_y, x, residual, inverses, sums, R, D, SLICE
  - kernel: add_slices
    grid: ceildiv(D, 256)
    block: 256
    args: sums, grad_weight, D, SLICES
*/

/* With t the stored sum, i = 1 / sqrt(mean(t^2) + eps) and g the gradient of y times the weight, the gradient of t is
 * grad_sum + g i - t i^3 mean(g t), and x and the residual have it both.  The first launch gives each row a block.  The second adds up slices of
 * the columns of grad_y times the norm, rounded to bfloat16 as in the forward pass; the third adds the slices, always in the same order. */

#include <cuda_bf16.h>

template <int count> struct alignas(2 * count) Pack {
   __nv_bfloat16 at[count];
};

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

__device__ float stored_sum(__nv_bfloat16 x, __nv_bfloat16 residual) {
   return __bfloat162float(__float2bfloat16(__bfloat162float(x) + __bfloat162float(residual)));
}

template <int block, int vec>
__global__ void rows(const __nv_bfloat16 *grad_sum, const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x,
                     const __nv_bfloat16 *residual, const __nv_bfloat16 *weight, __nv_bfloat16 *grad_x,
                     __nv_bfloat16 *grad_residual, float *inverses, float eps, int D) {
   const long long first = (long long)blockIdx.x * D / vec;
   const Pack<vec> *x_row = reinterpret_cast<const Pack<vec> *>(x) + first;
   const Pack<vec> *residual_row = reinterpret_cast<const Pack<vec> *>(residual) + first;
   const Pack<vec> *grad_y_row = reinterpret_cast<const Pack<vec> *>(grad_y) + first;
   const Pack<vec> *grad_sum_row = reinterpret_cast<const Pack<vec> *>(grad_sum) + first;
   const Pack<vec> *weights = reinterpret_cast<const Pack<vec> *>(weight);
   float squares = 0.0f, products = 0.0f;
   for (int i = threadIdx.x; i < D / vec; i += block) {
      const Pack<vec> a = x_row[i], b = residual_row[i], grad = grad_y_row[i], factor = weights[i];
      for (int k = 0; k < vec; k++) {
         const float total = stored_sum(a.at[k], b.at[k]);
         squares += total * total;
         products += __bfloat162float(grad.at[k]) * __bfloat162float(factor.at[k]) * total;
      }
   }
   const float inverse = rsqrtf(block_sum<block>(squares) / D + eps);
   const float along = block_sum<block>(products) / D * inverse * inverse * inverse;
   for (int i = threadIdx.x; i < D / vec; i += block) {
      const Pack<vec> a = x_row[i], b = residual_row[i], grad = grad_y_row[i], factor = weights[i], more = grad_sum_row[i];
      Pack<vec> result;
      for (int k = 0; k < vec; k++) {
         const float g = __bfloat162float(grad.at[k]) * __bfloat162float(factor.at[k]);
         const float total = stored_sum(a.at[k], b.at[k]);
         result.at[k] = __float2bfloat16(__bfloat162float(more.at[k]) + (g * inverse - total * along));
      }
      reinterpret_cast<Pack<vec> *>(grad_x)[first + i] = result;
      reinterpret_cast<Pack<vec> *>(grad_residual)[first + i] = result;
   }
   if (threadIdx.x == 0)
      inverses[blockIdx.x] = inverse;
}

__global__ void columns(const __nv_bfloat16 *grad_y, const __nv_bfloat16 *x, const __nv_bfloat16 *residual,
                        const float *inverses, float *sums, int R, int D, int slice) {
   __shared__ float parts[8][32];
   const int column = blockIdx.x * 32 + threadIdx.x, first = blockIdx.y * slice;
   const int end = first + slice < R ? first + slice : R;
   float sum = 0.0f;
   for (int r = first + threadIdx.y; column < D && r < end; r += 8) {
      const long long at = (long long)r * D + column;
      const __nv_bfloat16 norm = __float2bfloat16(stored_sum(x[at], residual[at]) * inverses[r]);
      sum += __bfloat162float(grad_y[at]) * __bfloat162float(norm);
   }
   parts[threadIdx.y][threadIdx.x] = sum;
   __syncthreads();
   if (threadIdx.y == 0 && column < D) {
      sum = 0.0f;
      for (int part = 0; part < 8; part++)
         sum += parts[part][threadIdx.x];
      sums[(long long)blockIdx.y * D + column] = sum;
   }
}

__global__ void add_slices(const float *sums, __nv_bfloat16 *grad_weight, int D, int slices) {
   const int column = blockIdx.x * 256 + threadIdx.x;
   if (column >= D)
      return;
   float sum = 0.0f;
   for (int s = 0; s < slices; s++)
      sum += sums[(long long)s * D + column];
   grad_weight[column] = __float2bfloat16(sum);
}
