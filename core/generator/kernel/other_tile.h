/* Products whose cases suit different tiles: a launch may have a second tile, which a case takes where it occupies the multiprocessors
 * better.  Pure functions but for the last, which writes; one thread a graph. */
#ifndef RKB_GENERATOR_OTHER_TILE_H
#define RKB_GENERATOR_OTHER_TILE_H

#include "generator/kernel/kernel_file.h"

/* Whether a launch has a second tile. */
bool rkb_launch_has_other(const rkb_launch_t *launch);
/* Returns the same launch with the second tile alone. */
rkb_launch_t rkb_other_launch(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes);
/* NULL, or why the second tile is not legal. */
const char *rkb_other_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes);
/* How long a tile takes for each term of its sums, in hundreds of multiply-adds at the full rate. */
int64_t rkb_other_weight(const rkb_launch_t *launch);
/* The condition under which the second tile is faster in a case, in the manifest's language.  NULL: the
 * file's why says why there is none. */
const char *rkb_other_when(rkb_kernel_file_t *file, const rkb_launch_t *launch, const rkb_launch_t *other);

#endif
