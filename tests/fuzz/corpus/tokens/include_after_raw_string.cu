// expect: build.error: is refused
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#if 0
R"(
#endif
#include "/etc/passwd"
#if 0
)"
#endif
__global__ void k(float *x) { x[threadIdx.x] = 1; }
