// expect: build.error: _LP64 is refused
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#ifdef __LP64__X
#define WRONG 1
#endif
__global__ void k(float *x) { x[threadIdx.x] = 1; }
