/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "struct(x, struct(y))"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
// expect: a struct in a struct: list its members among the outer one's
