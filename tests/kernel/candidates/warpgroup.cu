/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, y, D"}
*/
#include <cstdint>

/* Instructions of sm_90a alone: the assembler refuses them for sm_90. */
__global__ void __launch_bounds__(128, 1) k(const float *x, float *y, int64_t D) {
   asm volatile("setmaxnreg.dec.sync.aligned.u32 64;");
   asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
   asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
   asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
   if (threadIdx.x < D)
      y[threadIdx.x] = x[threadIdx.x];
}
