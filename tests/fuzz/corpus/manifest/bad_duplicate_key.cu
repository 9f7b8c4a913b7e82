/* rkb-kernel: 1
task: a
task: b
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 3:1
