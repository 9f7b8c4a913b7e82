// expect: build.error: undefined
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#line 1 "/etc/passwd"
__global__ void k(float *x) { x[0] = nothing; }
