// expect: build.error: nor on the compiler
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
#if defined(__CUDACC_RTC__)
#define RESULT 1.0f
#else
#define RESULT 0.0f
#endif
__global__ void k(float *x) { x[threadIdx.x] = RESULT; }
