/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - {kernel: k, grid: 1, block: 128, args: "x, y, D"}
*/
#include <stdint.h>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cub/block/block_reduce.cuh>

__global__ void k(const float *x, float *y, int64_t D) {
   using Reduce = cub::BlockReduce<float, 128>;
   __shared__ typename Reduce::TempStorage storage;
   static_assert(std::is_same<float, float>::value, "type_traits");
   float value = threadIdx.x < D ? x[threadIdx.x] : -FLT_MAX;
   value = Reduce(storage).Sum(isfinite(value) ? value : INFINITY * (float)INT_MAX);
   cooperative_groups::this_thread_block().sync();
   if (threadIdx.x == 0)
      y[0] = __half2float(__float2half(value)) + __bfloat162float(__float2bfloat16(value)) + (float)M_PI;
}
