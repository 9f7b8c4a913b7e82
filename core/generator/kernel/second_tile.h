/* The second tile of a product.  Different cases may suit different tiles, so a launch may have two.  A case takes the second tile if it is faster by estimate
 * (docs/decisions/schedules.md, 'A second tile').  Pure functions, except the last; one thread a graph. */
#ifndef RKB_GENERATOR_SECOND_TILE_H
#define RKB_GENERATOR_SECOND_TILE_H

#include "generator/kernel/kernel_file.h"

/* Whether a launch has a second tile. */
bool rkb_launch_has_second_tile(const rkb_launch_t *launch);
/* Returns the same launch with the second tile alone. */
rkb_launch_t rkb_second_tile_launch(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes);
/* NULL, or why the second tile is not legal. */
const char *rkb_second_tile_refused(const rkb_graph_t *graph, const rkb_launch_t *launch,
                                    int64_t shared_bytes);
/* The time that the launch's tile takes for each term of its sums, in hundreds of multiply-adds at the full rate. */
int64_t rkb_tile_time(const rkb_launch_t *launch);
/* The condition under which the second tile is faster in a case, in the manifest's language.  NULL: the
 * file's why says why there is none. */
const char *rkb_second_tile_when(rkb_kernel_file_t *file, const rkb_launch_t *launch,
                                 const rkb_launch_t *other);

#endif
