/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 1, choices: [1]}
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
__device__ void g(float *BLOCK) {}
// expect: 10:26: plan.name_collision
