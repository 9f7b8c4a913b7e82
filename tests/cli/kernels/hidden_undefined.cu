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

/* One block owns one row.  Threads past its end decide by a value that was never written; the optimiser sees that it does not
 * matter. */
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
   shared[threadIdx.x] = sum;
   __syncthreads();
   sum = 0.0f;
   for (int i = 0; i < BLOCK; i++)
      sum += shared[i];
   int wanted;
   if (threadIdx.x < D)
      wanted = 1;
   if (wanted != 1)
      return;
   for (int i = threadIdx.x; i < D; i += BLOCK)
      y[(long long)blockIdx.x * D + i] = expf(row[i] - largest) / sum;
}
