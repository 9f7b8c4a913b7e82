/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
#define DROP "discard.global.L2 [%0], 128;" // HERE
__global__ void k(const float *x, const float *weight, float *y, int n) {
   asm volatile(DROP :: "l"(y));
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
