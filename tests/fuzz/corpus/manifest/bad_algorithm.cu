/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
algorithm: winograd
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 4:12: 'winograd' is not a known algorithm
