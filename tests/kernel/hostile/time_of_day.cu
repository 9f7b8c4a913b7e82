// expect: build.error: neither on the time
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) { x[threadIdx.x] = __TIME__[0] == '2' ? 0.0f : 1.0f; }
