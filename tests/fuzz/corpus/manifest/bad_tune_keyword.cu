/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  float: {default: 1, choices: [1]}
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 5:3: plan.name_collision
