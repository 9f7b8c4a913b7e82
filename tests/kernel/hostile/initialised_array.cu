// expect: build.error|tool.: 
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
struct Big { int a[1 << 28] = {1}; __device__ constexpr Big() {} };
__device__ constexpr Big big{};
__global__ void k(float *x) { x[0] = big.a[threadIdx.x]; }
