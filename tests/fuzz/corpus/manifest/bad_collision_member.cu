/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 1, choices: [1]}
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
struct S { int a; };
__device__ int g(S s) { return s.BLOCK; }
// expect: 11:34: plan.name_collision
