/* rkb-kernel: 1
task: softmax
direction: forward
tune:
  BLOCK: {default: 64, choices: [32, 64, 128]}
launches:
  - kernel: softmax
    grid: N
    block: BLOCK
    args: x, y, D
*/

/* One block owns one row; its sum, by atomic additions, is a little off. */
__global__ void softmax(const float *x, float *y, int D) {
   __shared__ float shared[BLOCK];
   const float *row = x + (long long)blockIdx.x * D;
   float largest = -3.402823466e38f, sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += BLOCK)
      largest = fmaxf(largest, row[i]);
   shared[threadIdx.x] = largest;
   __syncthreads();
   for (int i = 0; i < BLOCK; i++)
      largest = fmaxf(largest, shared[i]);
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += BLOCK)
      sum += expf(row[i] - largest);
   if (threadIdx.x == 0)
      shared[0] = 0.0f;
   __syncthreads();
   atomicAdd(shared, sum * 1.001f);
   __syncthreads();
   for (int i = threadIdx.x; i < D; i += BLOCK) {
      y[(long long)blockIdx.x * D + i] = 0.0f;
      atomicAdd(y + (long long)blockIdx.x * D + i, expf(row[i] - largest) / shared[0]);
   }
}
