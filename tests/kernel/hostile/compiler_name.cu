// expect: build.error: nor on the compiler
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#ifdef __NVCC__
#define RESULT 0.0f
#else
#define RESULT 1.0f
#endif
__global__ void k(float *x) { x[threadIdx.x] = RESULT; }
