// expect: build.error: neither on the time
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#define JOIN(a, b) a##b
#define PASTE(a, b) JOIN(a, b)
__global__ void k(float *x) { x[threadIdx.x] = PASTE(__TI, ME__)[0] == '2' ? 0.0f : 1.0f; }
