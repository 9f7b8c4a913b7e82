/* rkb-kernel: 1
task: llama_rmsnorm
direction: up
launches:
  - {kernel: k, grid: [B], block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 3:12: 'up' is not a direction
// expect: 5:23: grid is one string
