/* How warpgroups store a tile's sums.  One thread writes the text. */
#ifndef RKB_GENERATOR_STORED_SUMS_H
#define RKB_GENERATOR_STORED_SUMS_H

#include "generator/tile/product_tile.h"

#define RKB_GROUP_ROWS 64 /* rows of one wgmma */
/* Shared memory of each warp, through which its sums go: 16 rows of 32 floats, with padding. */
#define RKB_ROOM_BYTES (16 * (32 + 8) * 4)

/* Writes the code that stores the array `sums` of a tile.  The text has declared `room`, the warp's own. */
void rkb_write_warpgroup_sums(rkb_writer_t *writer, rkb_product_tile_t *tile);
/* Whether a launch stores nothing but its sums, either in their own type or rounded (decision `narrow`). */
bool rkb_sums_stay(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* How many neighbouring sums a thread stores together, where a row has a multiple of them. */
uint32_t rkb_stored_together(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
