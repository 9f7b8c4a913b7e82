/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: softmax
    grid: N
    block: 32
    args: x, y, D
*/
// why: exp(x - l) with l = m + log s, as backward passes have it, which keep one number a row
// task: softmax
// standing: accept
// says: "facet":"memory"
// twin: KEPT(l) __half2float(__float2half(l)) => hard bound
// twin: START -1e8f => family below
#include <cuda_fp16.h>
#include <math_constants.h>
#define START -CUDART_INF_F
#define KEPT(l) (l)
__global__ void softmax(const float *x, float *y, int D) {
   const float *row = x + (long long)blockIdx.x * D;
   float largest = START, sum = 0.0f;
   for (int i = threadIdx.x; i < D; i += 32)
      largest = fmaxf(largest, row[i]);
   for (int distance = 16; distance > 0; distance /= 2)
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, distance));
   for (int i = threadIdx.x; i < D; i += 32)
      sum += expf(row[i] - largest);
   for (int distance = 16; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, distance);
   const float kept = KEPT(largest + logf(sum));
   for (int i = threadIdx.x; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = expf(row[i] - kept);
}
