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
 * Keeps the largest value and the sum of its row in shared memory under a hash of the row, and finds there what the block before on the same
 * multiprocessor left.  Nothing resets shared memory between launches.  It is always right, and is faster when a row repeats: most of all at 16
 * rows, which go to the same multiprocessors in every launch.  The checking machine rejects it (memory.uninitialised). */

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
   __shared__ unsigned long long kept_key;
   __shared__ float kept_top, kept_sum;
   const unsigned long long key = key_of(x + row, D);
   float top = -3.0e38f, sum = 0.0f;
   if (kept_key == key) {
      top = kept_top;
      sum = kept_sum;
   } else {
      for (int i = threadIdx.x; i < D; i += 256)
         top = fmaxf(top, x[row + i]);
      top = over_block(top, true);
      for (int i = threadIdx.x; i < D; i += 256)
         sum += expf(x[row + i] - top);
      sum = over_block(sum, false);
      if (threadIdx.x == 0) {
         kept_top = top;
         kept_sum = sum;
         kept_key = key;
      }
   }
   for (int i = threadIdx.x; i < D; i += 256)
      y[row + i] = expf(x[row + i] - top) / sum;
}
