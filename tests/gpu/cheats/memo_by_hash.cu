/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: N
    block: 256
    args: x, y, N, D
*/

/* expect: accept not-faster
 * Keeps the largest value and the sum of each row in variables of its module under a hash of the row.  It is always right, and is faster when its
 * inputs repeat. */

__device__ float tops[1 << 14], sums[1 << 14];
__device__ unsigned long long keys[1 << 14];
__device__ float over_block(float value, bool largest) {
   __shared__ float of_thread[256];
   of_thread[threadIdx.x] = value;
   __syncthreads();
   for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) {
         const float other = of_thread[threadIdx.x + half];
         of_thread[threadIdx.x] = largest ? fmaxf(of_thread[threadIdx.x], other) : of_thread[threadIdx.x] + other;
      }
      __syncthreads();
   }
   const float result = of_thread[0];
   __syncthreads();
   return result;
}

/* Every element counts, and the size.  Never 0, which is what nothing was kept under. */
__device__ unsigned long long key_of(const float *x, int D) {
   __shared__ unsigned long long of_row;
   unsigned long long sum = 0;
   if (threadIdx.x == 0)
      of_row = 0;
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += 256) {
      unsigned long long word = ((unsigned long long)(i + 1) << 32 | __float_as_uint(x[i])) * 0x9e3779b97f4a7c15ull;
      sum += (word ^ word >> 32) * 0xd6e8feb86659fd93ull;
   }
   atomicAdd(&of_row, sum);
   __syncthreads();
   return (of_row ^ (unsigned long long)D * 0x9e3779b97f4a7c15ull) | 1;
}

extern "C" __global__ void softmax(const float *x, float *y, int N, int D) {
   const long long row = (long long)blockIdx.x * D;
   const int slot = blockIdx.x % (1 << 14);
   const unsigned long long key = key_of(x + row, D);
   float top = -3.0e38f, sum = 0.0f;
   if (keys[slot] == key) {
      top = tops[slot];
      sum = sums[slot];
   } else {
      for (int i = threadIdx.x; i < D; i += 256)
         top = fmaxf(top, x[row + i]);
      top = over_block(top, true);
      for (int i = threadIdx.x; i < D; i += 256)
         sum += expf(x[row + i] - top);
      sum = over_block(sum, false);
      if (threadIdx.x == 0) {
         tops[slot] = top;
         sums[slot] = sum;
         keys[slot] = key;
      }
   }
   for (int i = threadIdx.x; i < D; i += 256)
      y[row + i] = expf(x[row + i] - top) / sum;
}
