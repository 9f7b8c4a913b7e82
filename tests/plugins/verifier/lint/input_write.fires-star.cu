/* rkb-kernel: 1
task: task
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, args: "x, weight, y, n"}
*/
__global__ void k(float *x, float *weight, float *y, int n) {
   *x = 1; // HERE
   weight[n]++; // HERE
   y[0] = n;
}
