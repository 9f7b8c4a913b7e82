// expect: build.error: __has_include
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#if __has_include("/etc/passwd")
#error found
#endif
__global__ void k(float *x) { x[threadIdx.x] = 1; }
