/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, weight, y, n"}
  - {kernel: k, grid: 1, block: 128, dependent: true, args: "x, weight, y, n"}
*/
__global__ void k(const float *x, const float *weight, float *y, int n) {
   asm volatile("griddepcontrol.wait;" ::: "memory");
   y[threadIdx.x] = x[threadIdx.x] * weight[0] + n;
}
