/* Launches that compute tiles of a product by warpgroups (Hopper).  One warpgroup copies tiles of both
 * factors to shared memory by tensor maps; the others multiply them there with wgmma.  Mbarriers say which
 * stage is filled and which is free.  One thread. */
#ifndef RKB_GENERATOR_WARPGROUP_TILE_H
#define RKB_GENERATOR_WARPGROUP_TILE_H

#include "generator/tile/tensor_tile.h"

/* NULL, or why warpgroups cannot compute the launch's tile on a device with this much shared memory for a block. */
const char *rkb_warpgroup_refused(const rkb_launch_t *launch, int64_t shared_bytes);
/* Whether both factors are copied by tensor maps where the conditions hold: their elements are stored as the
 * tensor cores take them, in rows at multiples of 16 bytes.  pads: rows may lie elsewhere, and have copies
 * (padded_rows.h). */
bool rkb_warpgroup_suits(rkb_graph_t *graph, rkb_arena_t *arena, const rkb_storage_t *storage,
                         const rkb_launch_t *launch, const rkb_condition_t *conditions,
                         uint32_t condition_count, bool pads);
#define RKB_SPLITTING_WARPS 3 /* warps of the copying warpgroup that split each float into a sum of two numbers */
/* Writes how these warps split the floats of a stage in place, from the first float on: `high` and `low` point to
 * the stage's two parts. */
void rkb_write_split_along(rkb_writer_t *writer, int64_t first, int64_t floats);
/* The same by another device function. */
void rkb_write_split_by(rkb_writer_t *writer, const char *function, int64_t first, int64_t floats);
/* decisions[RKB_VECTOR]: 1: factors may have copies in longer rows. */
void rkb_write_warpgroup_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape);

#endif
