/* rkb-kernel: 1
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: the manifest needs task
