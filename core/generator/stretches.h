/* Sums over rows beside sums along them: a block that owns a stretch of rows adds what each place of them gives.  Pure. */
#ifndef RKB_GENERATOR_STRETCHES_H
#define RKB_GENERATOR_STRETCHES_H

#include "generator/schedule.h"

/* Whether an anchor of a launch of rows is a sum of each place over all rows: it reduces what the first anchor keeps, of the same shape. */
bool rkb_stretch_adds(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor);
/* Whether some anchor is. */
bool rkb_launch_has_stretch_sums(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Whether a root is computed from such a sum: the launch that adds the stretches' parts writes it. */
bool rkb_stretch_ends(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t root);

#endif
