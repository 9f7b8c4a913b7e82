/* Tiles that suit warpgroups, and the decisions that go with them.  Pure functions; one thread for each
 * graph. */
#ifndef RKB_GENERATOR_WARPGROUP_START_H
#define RKB_GENERATOR_WARPGROUP_START_H

#include "generator/graph/schedule.h"

typedef struct rkb_warpgroup_tile {
   int64_t m, n, groups;
   double share, split_share,
      /* Shares of wgmma's rate: in general, where floats are split, for elements of one byte. */
      byte_share;
} rkb_warpgroup_tile_t;

/* All tiles; an entry with m = 0 ends the list. */
const rkb_warpgroup_tile_t *rkb_warpgroup_tiles(void);
/* The share of wgmma's rate that a tile of these decisions tends to reach. */
double rkb_warpgroup_share(const int64_t *decisions);
/* Makes a launch of mapping TENSOR copy by tensor maps: gives it the decisions that these copies need, as near
 * as possible to the decisions that it has. */
void rkb_tensor_settle(const rkb_graph_t *graph, int64_t shared_bytes, rkb_launch_t *launch);
/* Makes a launch of mapping TENSOR that multiplies by fp16x3 copy without tensor maps. */
void rkb_tensor_suit_halves(rkb_launch_t *launch);

#endif
