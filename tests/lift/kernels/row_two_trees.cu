/* rkb-kernel: 1
task: softmax
direction: forward
tune:
  THREADS: {default: 128, choices: [64, 128, 256]}
launches:
  - kernel: softmax<THREADS>
    grid: N
    block: THREADS
    args: x, y, D
*/

/* A block computes a row.  One shared array serves the largest number and then the sum. */

template <int threads> __device__ float total_of(float value) {
   __shared__ float part[threads];
   part[threadIdx.x] = value;
   __syncthreads();
   for (int half = threads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half)
         part[threadIdx.x] = part[threadIdx.x] + part[threadIdx.x + half];
      __syncthreads();
   }
   return part[0];
}

template <int threads> __global__ void softmax(const float *x, float *y, int D) {
   __shared__ float largest[threads];
   const float *row = x + (long long)blockIdx.x * D;
   float most = -3.402823466e38f;
   for (int i = threadIdx.x; i < D; i += threads)
      most = fmaxf(most, row[i]);
   largest[threadIdx.x] = most;
   __syncthreads();
   for (int half = threads / 2; half > 0; half /= 2) {
      if (threadIdx.x < half)
         largest[threadIdx.x] = fmaxf(largest[threadIdx.x], largest[threadIdx.x + half]);
      __syncthreads();
   }
   float sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += threads)
      sum += expf(row[i] - largest[0]);
   const float inverse = 1.0f / total_of<threads>(sum);
   for (int i = threadIdx.x; i < D; i += threads)
      y[(long long)blockIdx.x * D + i] = expf(row[i] - largest[0]) * inverse;
}
