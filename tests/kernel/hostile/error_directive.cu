// expect: build.error: #error
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#error "stop"
__global__ void k(float *x) { x[threadIdx.x] = 1; }
