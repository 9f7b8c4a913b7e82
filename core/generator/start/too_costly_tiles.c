/* Finds tiles whose blocks would take too long to execute or to compile (too_costly_tiles.h). */
#include "generator/start/too_costly_tiles.h"

#include "generator/start/tensor_start.h"

/* Most multiply-adds of a block, by ordinary threads and by tensor cores. */
#define MOST_BLOCK 268435456.0
#define MOST_TENSOR_BLOCK 2147483648.0

/* The most numbers of both factors that a thread may copy to shared memory for a step.  Each product has a variant in which threads copy number by number,
 * and these copies are unrolled.  With a tile of 64 x 64 x 128 and one warp they are 512 numbers, and the kernel took too long to compile. */
#define MOST_BROUGHT 384

static bool has_long_steps(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   const int64_t warps = (d[RKB_TILE_M] / d[RKB_WARP_M]) * (d[RKB_TILE_N] / d[RKB_WARP_N]);
   return launch->mapping == RKB_MAP_TENSOR && warps > 0 &&
          (d[RKB_TILE_M] + d[RKB_TILE_N]) * d[RKB_TILE_K] > MOST_BROUGHT * 32 * warps;
}

bool rkb_launch_has_too_costly_tile(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if ((launch->mapping != RKB_MAP_TILE && launch->mapping != RKB_MAP_TENSOR) || !launch->anchor_count)
      return false;
   if (has_long_steps(launch))
      return true;
   const rkb_extents_t extents = rkb_launch_extents(graph, launch);
   return rkb_most_depth(&extents) / (double)d[RKB_SPLIT] * (double)(d[RKB_TILE_M] * d[RKB_TILE_N]) >
          (launch->mapping == RKB_MAP_TENSOR ? MOST_TENSOR_BLOCK : MOST_BLOCK);
}
