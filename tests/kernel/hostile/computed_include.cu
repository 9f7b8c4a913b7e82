// expect: build.error: an #include whose header is not spelt out
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#define FILE </etc/passwd>
#include FILE
__global__ void k(float *x) { x[threadIdx.x] = 1; }
