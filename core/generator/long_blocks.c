/* Blocks of tiles that would take milliseconds (long_blocks.h). */
#include "generator/long_blocks.h"

#include "generator/tensor_start.h"

/* Multiply-adds of a block, by ordinary threads and by tensor cores. */
#define MOST_BLOCK 268435456.0
#define MOST_TENSOR_BLOCK 2147483648.0

bool rkb_launch_has_long_blocks(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if ((launch->mapping != RKB_MAP_TILE && launch->mapping != RKB_MAP_TENSOR) || !launch->anchor_count)
      return false;
   const rkb_extents_t extents = rkb_launch_extents(graph, launch);
   return rkb_most_depth(&extents) / (double)d[RKB_SPLIT] * (double)(d[RKB_TILE_M] * d[RKB_TILE_N]) >
          (launch->mapping == RKB_MAP_TENSOR ? MOST_TENSOR_BLOCK : MOST_BLOCK);
}
