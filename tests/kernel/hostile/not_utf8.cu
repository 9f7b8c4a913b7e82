// expect: build.error: no character of UTF-8
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) { x[threadIdx.x] = 1; /* ÿ */ }
