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

/* One block owns one row.  It copies the first elements asynchronously, and multiplies matrices for no row there is. */
__global__ void softmax(const float *x, float *y, int D) {
   __shared__ float shared[BLOCK];
   const float *row = x + (long long)blockIdx.x * D;
   unsigned d[4] = {0, 0, 0, 0};
   if (D < 0)
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%0, %1, %2, %3}, {%0, %1}, {%0, %1, %2, %3};"
                   : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]));
   if (threadIdx.x < D)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(&shared[threadIdx.x])),
                   "l"(row + threadIdx.x) : "memory");
   asm volatile("cp.async.wait_all;" ::: "memory");
   const float first = threadIdx.x < D ? shared[threadIdx.x] : 0.0f;
   __syncthreads();
   float largest = -3.402823466e38f, sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += BLOCK)
      largest = fmaxf(largest, i == threadIdx.x ? first : row[i]);
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
   for (int i = threadIdx.x; i < D; i += BLOCK)
      y[(long long)blockIdx.x * D + i] = expf(row[i] - largest) / sum + d[0];
}
