/* Values that launches compute again rather than read.  Pure functions of a graph; one thread for each
 * graph. */
#ifndef RKB_GENERATOR_RECOMPUTE_H
#define RKB_GENERATOR_RECOMPUTE_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Removes stored values that their readers can compute from other values which they read anyway.  A value is
 * removed where a launch writes it beside another value, where no product reads it (a product's factors are
 * copied as they are), and where the schedule's least time is then shorter, or as long with fewer bytes.
 * Under the same condition a product is stored instead of several values that are computed from it.  Does
 * nothing where the target's bandwidth is not known. */
void rkb_schedule_recompute(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule);

#endif
