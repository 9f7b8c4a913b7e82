// expect: build.error: neither on the time
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#define WHEN __DA\
TE__
__global__ void k(float *x) { x[threadIdx.x] = WHEN[0] == 'J' ? 0.0f : 1.0f; }
