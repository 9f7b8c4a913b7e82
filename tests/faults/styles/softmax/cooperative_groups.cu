/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: tiles
    grid: ceildiv(N, 8)
    block: 128
    args: x, y, N, D
*/
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

/* Tiles of sixteen threads, one row each. */
__global__ void tiles(const float *x, float *y, int N, int D) {
   const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
   const int row = blockIdx.x * 8 + threadIdx.x / 16;
   if (row >= N)
      return;
   const float *in = x + (long long)row * D;
   float m = -__int_as_float(0x7f800000), s = 0;
   for (int i = tile.thread_rank(); i < D; i += 16)
      m = fmaxf(m, in[i]);
   m = cg::reduce(tile, m, cg::greater<float>());
   for (int i = tile.thread_rank(); i < D; i += 16)
      s += expf(in[i] - m);
   s = cg::reduce(tile, s, cg::plus<float>());
   for (int i = tile.thread_rank(); i < D; i += 16)
      y[(long long)row * D + i] = expf(in[i] - m) / s;
}
