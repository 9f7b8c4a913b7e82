/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: y_rows<int>
    grid: "N"
    block: 256
    args: "x, y, D"
schedule:
  version: 4
  launches:
    - {map: row, compute: [y_largest, y_sum], write: [y_value], threads: 256, vector: 1, rows: 1, split: 1, keep: 0}
*/
#include <math.h>

/* NaN where either is. */
__device__ __forceinline__ float larger(float a, float b) {
   float c;
   asm("max.NaN.f32 %0, %1, %2;" : "=f"(c) : "f"(a), "f"(b));
   return c;
}

/* Adds what the threads of a row have, in a fixed order; every thread gets the result. */
template <int threads> __device__ float row_sum(float part) {
   for (int distance = 16; distance > 0; distance /= 2)
      part += __shfl_xor_sync(0xffffffffu, part, distance);
   if constexpr (threads > 32) {
      __shared__ float parts[threads / 32];
      __syncthreads(); /* what an earlier call left has been read */
      if (threadIdx.x % 32 == 0)
         parts[threadIdx.x / 32] = part;
      __syncthreads();
      part = parts[0];
      for (int warp = 1; warp < threads / 32; warp++)
         part += parts[warp];
   }
   return part;
}

/* Finds the largest of what the threads of a row have, in a fixed order; every thread gets the result. */
template <int threads> __device__ float row_largest(float part) {
   for (int distance = 16; distance > 0; distance /= 2)
      part = larger(part, __shfl_xor_sync(0xffffffffu, part, distance));
   if constexpr (threads > 32) {
      __shared__ float parts[threads / 32];
      __syncthreads(); /* what an earlier call left has been read */
      if (threadIdx.x % 32 == 0)
         parts[threadIdx.x / 32] = part;
      __syncthreads();
      part = parts[0];
      for (int warp = 1; warp < threads / 32; warp++)
         part = larger(part, parts[warp]);
   }
   return part;
}

/* A block owns one row of y_largest. */
template <typename index>
__global__ void __launch_bounds__(256) y_rows(const float *__restrict__ x, float *y, index D) {
   const int thread = threadIdx.x;
   const index row = blockIdx.x;
   float y_largest = -INFINITY;
   for (index place = thread; place < D; place += 256) {
      const float x_here = x[((row * D) + place)];
      y_largest = larger(y_largest, x_here);
   }
   y_largest = row_largest<256>(y_largest);
   float y_sum = 0.0f;
   for (index place = thread; place < D; place += 256) {
      const float x_here = x[((row * D) + place)];
      const float y_below = x_here - y_largest;
      const float y_power = expf(y_below);
      y_sum += y_power;
   }
   y_sum = row_sum<256>(y_sum);
   for (index place = thread; place < D; place += 256) {
      const float x_here = x[((row * D) + place)];
      const float y_below = x_here - y_largest;
      const float y_power = expf(y_below);
      const float y_value = y_power / y_sum;
      y[((row * D) + place)] = y_value;
   }
}

