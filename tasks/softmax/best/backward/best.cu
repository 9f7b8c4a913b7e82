/* rkb-kernel: 1
task: softmax
direction: backward
tune:
  BLOCK: {default: 256, choices: [128, 256, 512, 1024]}
launches:
  - kernel: softmax_grad<BLOCK, 1, 4>
    when: D % 4 == 0 and D <= 4 * BLOCK
    grid: N
    block: BLOCK
    args: grad_y, x, grad_x, D
  - else:
    kernel: softmax_grad<BLOCK, 4, 4>
    when: D % 4 == 0 and D <= 16 * BLOCK
    grid: N
    block: BLOCK
    args: grad_y, x, grad_x, D
  - else:
    kernel: softmax_grad<1024, 4, 4>
    when: D % 4 == 0 and D <= 16384
    grid: N
    block: 1024
    args: grad_y, x, grad_x, D
  - else:
    kernel: softmax_grad<BLOCK, 0, 1>
    grid: N
    block: BLOCK
    args: grad_y, x, grad_x, D
*/

/* grad_x = y * (grad_y - sum(grad_y * y)), with y = softmax(x) computed again.  One block owns one row and keeps it in registers with its gradient,
 * so that both travel once and exponentials are taken once: a thread asks for all its vectors before it uses any.  Rows that do not fit
 * or lie on no 16 bytes are read three times, a number at a time. */

template <int count> struct alignas(4 * count) Pack {
   float at[count];
};

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

/* Two sums over the block at once, for every thread. */
template <int block> __device__ float2 block_sums(float first, float second) {
   __shared__ float2 of_warp[block / 32];
   for (int distance = 16; distance > 0; distance /= 2) {
      first += __shfl_xor_sync(0xffffffffu, first, distance);
      second += __shfl_xor_sync(0xffffffffu, second, distance);
   }
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = make_float2(first, second);
   __syncthreads();
   float2 total = of_warp[0];
#pragma unroll
   for (int warp = 1; warp < block / 32; warp++) {
      total.x += of_warp[warp].x;
      total.y += of_warp[warp].y;
   }
   return total;
}

template <int block, int each, int vec>
__global__ void __launch_bounds__(block) softmax_grad(const float *__restrict__ grad_y, const float *__restrict__ x, float *__restrict__ grad_x, int D) {
   const long long start = (long long)blockIdx.x * D;
   float largest = -3.402823466e38f, sum = 0.0f, products = 0.0f;
   if (each > 0) {
      Pack<vec> value[each > 0 ? each : 1], grad[each > 0 ? each : 1] = {};
#pragma unroll
      for (int i = 0; i < each; i++) {
#pragma unroll
         for (int k = 0; k < vec; k++)
            value[i].at[k] = -3.402823466e38f;
         if ((threadIdx.x + i * block) * vec < D)
            value[i] = reinterpret_cast<const Pack<vec> *>(x + start)[threadIdx.x + i * block];
      }
#pragma unroll
      for (int i = 0; i < each; i++)
         if ((threadIdx.x + i * block) * vec < D)
            grad[i] = reinterpret_cast<const Pack<vec> *>(grad_y + start)[threadIdx.x + i * block];
#pragma unroll
      for (int i = 0; i < each; i++)
#pragma unroll
         for (int k = 0; k < vec; k++)
            largest = fmaxf(largest, value[i].at[k]);
      largest = block_max<block>(largest);
#pragma unroll
      for (int i = 0; i < each; i++)
#pragma unroll
         for (int k = 0; k < vec; k++) {
            value[i].at[k] = (threadIdx.x + i * block) * vec < D ? expf(value[i].at[k] - largest) : 0.0f;
            sum += value[i].at[k];
            products += value[i].at[k] * grad[i].at[k];
         }
      const float2 sums = block_sums<block>(sum, products);
      const float inverse = 1.0f / sums.x, mean = sums.y * inverse;
#pragma unroll
      for (int i = 0; i < each; i++) {
#pragma unroll
         for (int k = 0; k < vec; k++)
            value[i].at[k] *= inverse * (grad[i].at[k] - mean);
         if ((threadIdx.x + i * block) * vec < D)
            reinterpret_cast<Pack<vec> *>(grad_x + start)[threadIdx.x + i * block] = value[i];
      }
      return;
   }
   for (int i = threadIdx.x; i < D; i += block)
      largest = fmaxf(largest, x[start + i]);
   largest = block_max<block>(largest);
   for (int i = threadIdx.x; i < D; i += block) {
      const float power = expf(x[start + i] - largest);
      sum += power;
      products += power * grad_y[start + i];
   }
   const float2 sums = block_sums<block>(sum, products);
   const float inverse = 1.0f / sums.x, mean = sums.y * inverse;
   for (int i = threadIdx.x; i < D; i += block)
      grad_x[start + i] = expf(x[start + i] - largest) * inverse * (grad_y[start + i] - mean);
}
