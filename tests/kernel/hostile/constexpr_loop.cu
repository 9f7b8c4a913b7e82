// expect: build.error: 
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__device__ constexpr int forever() { int i = 0; while (true) i = i + 1 - 1; return i; }
__global__ void k(float *x) { constexpr int n = forever(); x[0] = n; }
