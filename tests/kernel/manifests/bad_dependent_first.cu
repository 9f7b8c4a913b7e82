/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: 1, block: 32, dependent: true, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: dependent: this is the first launch, and depends on none
