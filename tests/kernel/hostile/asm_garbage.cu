// expect: build.error: ptxas: 
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) { asm volatile("} .entry boom { garbage %0;" :: "r"(threadIdx.x)); x[0] = 1; }
