/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   int free = 1; // new float
   y[0] = free;
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
