// expect: plan.manifest: cannot name a kernel
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: "k); } __device__ int y = (0", grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) { x[threadIdx.x] = 1; }
