/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
#include <cuda_fp16.h> // HERE
__global__ void k(const float *x, const float *weight, float *y, int n) {
   __half2 h = __float2half2_rn(x[0]); // HERE
   asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1};" :: ); // HERE
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
