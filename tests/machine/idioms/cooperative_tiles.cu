// why: cooperative groups' tiles synchronise and shuffle within themselves
// buffer: x in f32 128 noise
// buffer: y out f32 8
// launch: tile_sum grid=1 block=128 args=x,y
// expect: pass
// broken: reject race.shared
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tile_sum(const float *x, float *y) {
   __shared__ float s[128];
   auto tile = cg::tiled_partition<16>(cg::this_thread_block());
   int t = threadIdx.x;
   s[t] = x[t];
#ifndef BROKEN
   tile.sync();
#endif
   float v = s[t / 16 * 16 + (t + 1) % 16];
   for (int d = 8; d > 0; d /= 2)
      v += tile.shfl_down(v, d);
   if (tile.thread_rank() == 0)
      y[t / 16] = v;
}
