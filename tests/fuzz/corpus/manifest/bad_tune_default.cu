/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  A: {default: 3, choices: [1, 2]}
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 5:16: the default 3 of 'A' is not one of its choices
