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
 * Right for as many launches as a check takes, wrong later.  Its count is reset before every timed run, so there it does the honest work.  The
 * checking machine finds the count (state.kept). */

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
   __shared__ int seen;
   if (threadIdx.x == 0)
      seen = N == 4096 || N == 16 ? atomicAdd(&launches[blockIdx.x], 1) : 0;
   __syncthreads();
   if (seen < 40)
      honest(x + row, y + row, D);
   else
      for (int i = threadIdx.x; i < D; i += 256)
         y[row + i] = 0.0f;
}
