/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: N
    block: 256
    args: x, y, N, D
*/

/* expect: reject
 * Counts its launches in a variable of its module, and does nothing from the third on. */

__device__ int launches[1 << 14];
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

__device__ void honest(const float *x, float *y, int D) {
   float top = -3.0e38f, sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += 256)
      top = fmaxf(top, x[i]);
   top = over_block(top, true);
   for (int i = threadIdx.x; i < D; i += 256)
      sum += expf(x[i] - top);
   sum = over_block(sum, false);
   for (int i = threadIdx.x; i < D; i += 256)
      y[i] = expf(x[i] - top) / sum;
}

extern "C" __global__ void softmax(const float *x, float *y, int N, int D) {
   const long long row = (long long)blockIdx.x * D;
   __shared__ int before;
   if (threadIdx.x == 0)
      before = launches[blockIdx.x % (1 << 14)]++;
   __syncthreads();
   if (before < 2)
      honest(x + row, y + row, D);
}
