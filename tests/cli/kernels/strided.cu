/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: N
    block: "64"
    args: x, y, D
*/

static __device__ float at(const float *row, int i) {
   return row[i];
}

/* One block owns one row, each thread every second element of a piece: half of each sector is left for a second pass. */
__global__ void softmax(const float *x, float *y, int D) {
   __shared__ float shared[64];
   const float *row = x + (long long)blockIdx.x * D;
   float largest = -3.402823466e38f, sum = 0.0f;
   for (int half = 0; half < 2; half++)
      for (int i = 2 * threadIdx.x + half; i < D; i += 128)
         largest = fmaxf(largest, at(row, i));
   shared[threadIdx.x] = largest;
   __syncthreads();
   for (int i = 0; i < 64; i++)
      largest = fmaxf(largest, shared[i]);
   __syncthreads();
   for (int half = 0; half < 2; half++)
      for (int i = 2 * threadIdx.x + half; i < D; i += 128)
         sum += expf(at(row, i) - largest);
   shared[threadIdx.x] = sum;
   __syncthreads();
   sum = 0.0f;
   for (int i = 0; i < 64; i++)
      sum += shared[i];
   for (int i = threadIdx.x; i < D; i += 64)
      y[(long long)blockIdx.x * D + i] = expf(row[i] - largest) / sum;
}
