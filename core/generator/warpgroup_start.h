/* Tiles that suit warpgroups, and what goes with them.  Pure functions; one thread a graph. */
#ifndef RKB_GENERATOR_WARPGROUP_START_H
#define RKB_GENERATOR_WARPGROUP_START_H

#include "generator/schedule.h"

typedef struct rkb_warpgroup_tile {
   int64_t m, n, groups;
   double share, split_share,
      byte_share; /* of wgmma's rate; where floats are split; of elements of one byte */
} rkb_warpgroup_tile_t;

/* All of them; after the last, m is 0. */
const rkb_warpgroup_tile_t *rkb_warpgroup_tiles(void);
/* The share of wgmma's rate that a tile of these decisions tends to reach. */
double rkb_warpgroup_share(const int64_t *decisions);
/* Gives a launch of mapping TENSOR, which copies by tensor maps from now on, the decisions that such copies ask for, near those that it
 * has. */
void rkb_tensor_settle(const rkb_graph_t *graph, int64_t shared_bytes, rkb_launch_t *launch);

#endif
