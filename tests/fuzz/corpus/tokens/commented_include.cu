// expect: build.error: is refused
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#/* a */include/* b */"/etc/passwd"
__global__ void k(float *x) { x[threadIdx.x] = 1; }
