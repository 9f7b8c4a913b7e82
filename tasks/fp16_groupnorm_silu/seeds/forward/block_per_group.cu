/* rkb-kernel: 1
task: fp16_groupnorm_silu
direction: forward
tune:
  THREADS: {default: 256, choices: [128, 256, 512]}
launches:
  - kernel: norm<THREADS>
    grid: G, N
    block: THREADS
    args: x, weight, bias, y, G, each, H * W, eps
*/

/* A block owns the elements of one group, which lie together, and reads them three times: for the mean, for the variance, and to write
 * the result.  After the first time they come from the cache.  Sums are fp32; the result is rounded once. */

#include <cuda_fp16.h>

/* The sum of all threads' values, for all threads. */
template <int threads>
__device__ float sum_of_block(float value, float *parts) {
   for (int away = 16; away > 0; away /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, away);
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      parts[threadIdx.x / 32] = value;
   __syncthreads();
   value = 0.0f;
   for (int i = 0; i < threads / 32; i++)
      value += parts[i];
   return value;
}

template <int threads>
__global__ void __launch_bounds__(threads) norm(const __half *x, const __half *weight, const __half *bias, __half *y, int groups,
                                                int each, int pixels, float eps) {
   __shared__ float parts[threads / 32];
   const int count = each * pixels;
   const long long first = ((long long)blockIdx.y * groups + blockIdx.x) * count;
   float sum = 0.0f;
   for (int i = threadIdx.x; i < count; i += threads)
      sum += __half2float(x[first + i]);
   const float mean = sum_of_block<threads>(sum, parts) / count;
   sum = 0.0f;
   for (int i = threadIdx.x; i < count; i += threads) {
      const float away = __half2float(x[first + i]) - mean;
      sum += away * away;
   }
   const float inverse = rsqrtf(sum_of_block<threads>(sum, parts) / count + eps);
   for (int i = threadIdx.x; i < count; i += threads) {
      const int channel = blockIdx.x * each + i / pixels;
      const float z = (__half2float(x[first + i]) - mean) * inverse * __half2float(weight[channel]) + __half2float(bias[channel]);
      y[first + i] = __float2half(z / (1.0f + expf(-z)));
   }
}
