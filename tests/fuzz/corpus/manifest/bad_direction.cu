/* rkb-kernel: 1
task: llama_rmsnorm
direction: sideways
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 3:12: 'sideways' is not a direction
