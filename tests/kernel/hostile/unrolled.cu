// expect: tool.|build.error: 
/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: B, block: 32, args: "x"}
*/
__global__ void k(float *x) {
#pragma unroll
   for (int i = 0; i < 1 << 20; i++) {
#pragma unroll
      for (int j = 0; j < 1 << 20; j++) x[i ^ j] = x[i * j] * i + j;
   }
}
