/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
tune:
  BLOCK: {default: 1, choices: [1]}
launches:
  - {kernel: k, grid: B, block: 32, args: "x, y"}
*/
__global__ void k(const float *x, float *y) { y[0] = x[0]; }
__device__ int g(int a) { int b[BLOCK]; if (a > BLOCK) return BLOCK; b[0] = a * BLOCK + (BLOCK);
 return b[0] < BLOCK ? BLOCK : sizeof BLOCK; }
#if BLOCK > 2
#endif
#define BLOCKS 3
