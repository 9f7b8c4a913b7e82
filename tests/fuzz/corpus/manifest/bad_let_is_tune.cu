/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  A: {default: 1, choices: [1]}
let:
  A: 2
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: 7:3: plan.name_collision
