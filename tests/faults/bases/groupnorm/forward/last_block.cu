/* rkb-kernel: 1
task: groupnorm
direction: forward
let:
  plane: H * W
  D: M * H * W
  slices: min(4, ceildiv(D, 64))
scratch:
  partial: {dtype: float32, shape: "N * G, 4"}
  done: {dtype: int32, shape: "N * G", init: zero}
  mean: {dtype: float32, shape: "N * G"}
  variance: {dtype: float32, shape: "N * G"}
launches:
  - kernel: group_mean
    grid: slices, N * G
    block: 64
    args: x, partial, done, mean, D
  - kernel: group_variance
    grid: slices, N * G
    block: 64
    args: x, mean, partial, done, variance, D
  - kernel: normalise
    grid: slices, N * G
    block: 64
    args: x, weight, bias, mean, variance, y, eps, G, M, plane
*/

/* A correct but delicate kernel for the fault operators: the last block of a group divides what all blocks have added up; both
 * passes count on the same counters. */

__device__ float block_sum(float value, float *of_warp) {
   for (int distance = 16; distance > 0; distance /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, distance);
   if (threadIdx.x % 32 == 0)
      of_warp[threadIdx.x / 32] = value;
   __syncthreads();
   return of_warp[0] + of_warp[1];
}

__global__ void group_mean(const float *x, float *partial, unsigned *done, float *mean, int D) {
   __shared__ float of_warp[2];
   const float *group = x + (long long)blockIdx.y * D;
   float sum = 0.0f;
   for (int i = blockIdx.x * 64 + threadIdx.x; i < D; i += gridDim.x * 64)
      sum += group[i];
   sum = block_sum(sum, of_warp);
   if (threadIdx.x != 0)
      return;
   partial[blockIdx.y * 4 + blockIdx.x] = sum;
   __threadfence();
   if (atomicAdd(&done[blockIdx.y], 1u) != gridDim.x - 1)
      return;
   __threadfence();
   float all = 0.0f;
   for (int slice = 0; slice < gridDim.x; slice++)
      all += partial[blockIdx.y * 4 + slice];
   mean[blockIdx.y] = all / D;
   done[blockIdx.y] = 0;
}

__global__ void group_variance(const float *x, const float *mean, float *partial, unsigned *done, float *variance, int D) {
   __shared__ float of_warp[2];
   const float *group = x + (long long)blockIdx.y * D;
   const float middle = mean[blockIdx.y];
   float sum = 0.0f;
   for (int i = blockIdx.x * 64 + threadIdx.x; i < D; i += gridDim.x * 64) {
      const float deviation = group[i] - middle;
      sum += deviation * deviation;
   }
   sum = block_sum(sum, of_warp);
   if (threadIdx.x != 0)
      return;
   partial[blockIdx.y * 4 + blockIdx.x] = sum;
   __threadfence();
   if (atomicAdd(&done[blockIdx.y], 1u) != gridDim.x - 1)
      return;
   __threadfence();
   float all = 0.0f;
   for (int slice = 0; slice < gridDim.x; slice++)
      all += partial[blockIdx.y * 4 + slice];
   variance[blockIdx.y] = all / D;
   done[blockIdx.y] = 0;
}

__global__ void normalise(const float *x, const float *weight, const float *bias, const float *mean, const float *variance,
                          float *y, float eps, int G, int M, int plane) {
   const float middle = mean[blockIdx.y], scale = 1.0f / sqrtf(variance[blockIdx.y] + eps);
   const int first_channel = blockIdx.y % G * M;
   for (int i = blockIdx.x * 64 + threadIdx.x; i < M * plane; i += gridDim.x * 64) {
      const int channel = first_channel + i / plane;
      const long long at = (long long)blockIdx.y * M * plane + i;
      y[at] = (x[at] - middle) * scale * weight[channel] + bias[channel];
   }
}
