// expect: build.error: its __device__ variables take 4398046511104 bytes
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__device__ float big[1ull << 40];
__global__ void k(float *x) { x[0] = big[threadIdx.x]; }
