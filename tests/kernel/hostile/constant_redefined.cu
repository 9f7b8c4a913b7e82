// expect: build.error: _LP64 is refused
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#define __LP64__ 0
__global__ void k(float *x) { x[threadIdx.x] = 1; }
