/* Blocks of tiles that would take milliseconds, or too long to compile (long_blocks.h). */
#include "generator/start/long_blocks.h"

#include "generator/start/tensor_start.h"

/* Multiply-adds of a block, by ordinary threads and by tensor cores. */
#define MOST_BLOCK 268435456.0
#define MOST_TENSOR_BLOCK 2147483648.0

/* The most numbers of both factors that a thread may bring for a step.  In some variant of each product nothing else copies them, and all these
 * copies are unrolled.  64 x 64 x 128 of one warp is 512 numbers, and took longer to compile than a kernel may. */
#define MOST_BROUGHT 384

static bool has_long_steps(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const int64_t warps = (d[RKB_TILE_M] / d[RKB_WARP_M]) * (d[RKB_TILE_N] / d[RKB_WARP_N]);
   return launch->mapping == RKB_MAP_TENSOR && warps > 0 &&
          (d[RKB_TILE_M] + d[RKB_TILE_N]) * d[RKB_TILE_K] > MOST_BROUGHT * 32 * warps;
}

bool rkb_launch_has_long_blocks(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if ((launch->mapping != RKB_MAP_TILE && launch->mapping != RKB_MAP_TENSOR) || !launch->anchor_count)
      return false;
   if (has_long_steps(launch))
      return true;
   const rkb_extents_t extents = rkb_launch_extents(graph, launch);
   return rkb_most_depth(&extents) / (double)d[RKB_SPLIT] * (double)(d[RKB_TILE_M] * d[RKB_TILE_N]) >
          (launch->mapping == RKB_MAP_TENSOR ? MOST_TENSOR_BLOCK : MOST_BLOCK);
}
