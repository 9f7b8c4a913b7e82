// expect: build.error: __cpp_rvalue_reference is refused
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#ifdef __cpp_rvalue_reference
#define WRONG 1
#endif
__global__ void k(float *x) { x[threadIdx.x] = 1; }
