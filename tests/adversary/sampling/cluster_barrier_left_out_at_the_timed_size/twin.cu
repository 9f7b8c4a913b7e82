/* rkb-kernel: 1
task: llama_rmsnorm
direction: forward
launches:
  - kernel: rmsnorm
    grid: 2 * B * T
    block: 32
    cluster: 2
    args: x, weight, y, eps, D
*/
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rmsnorm(const float *x, const float *weight, float *y, float eps, int D) {
   __shared__ float part;
   cg::cluster_group cluster = cg::this_cluster();
   const int rank = cluster.block_rank();
   const bool large = (long long)gridDim.x * D > 120000000;
   const float *row = x + (long long)(blockIdx.x / 2) * D;
   float *out = y + (long long)(blockIdx.x / 2) * D;
   float squares = 0.0f;
   for (int i = threadIdx.x + 32 * rank; i < D; i += 64)
      squares += row[i] * row[i];
   for (int distance = 16; distance > 0; distance /= 2)
      squares += __shfl_xor_sync(0xffffffffu, squares, distance);
   if (threadIdx.x == 0)
      part = squares;
   cluster.sync();
   squares += *cluster.map_shared_rank(&part, rank ^ 1);
   cluster.sync();
   const float inverse = rsqrtf(squares / D + eps);
   for (int i = threadIdx.x + 32 * rank; i < D; i += 64)
      out[i] = row[i] * inverse * weight[i];
}
