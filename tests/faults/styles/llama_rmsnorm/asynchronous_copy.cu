/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: copied
    grid: B * T
    block: 32
    args: x, weight, y, eps, D
*/
#include <cuda_pipeline.h>

/* A window of the row is copied by cp.async while the one before is used. */
__global__ void copied(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float window[2][32];
   const float *row = x + (long long)blockIdx.x * D;
   float s = 0;
   const int turns = (D + 31) / 32, lane = threadIdx.x;
   if (lane < D)
      __pipeline_memcpy_async(&window[0][lane], row + lane, 4);
   __pipeline_commit();
   for (int turn = 0; turn < turns; turn++) {
      const int next = (turn + 1) * 32 + lane;
      if (next < D)
         __pipeline_memcpy_async(&window[(turn + 1) % 2][lane], row + next, 4);
      __pipeline_commit();
      __pipeline_wait_prior(1);
      if (turn * 32 + lane < D)
         s += window[turn % 2][lane] * window[turn % 2][lane];
   }
   for (int d = 16; d; d >>= 1)
      s += __shfl_xor_sync(0xffffffffu, s, d);
   const float r = rsqrtf(s / D + eps);
   for (int i = lane; i < D; i += 32)
      y[(long long)blockIdx.x * D + i] = row[i] * r * weight[i];
}
