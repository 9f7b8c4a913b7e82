/* Values that launches compute again rather than read.  Pure functions of a graph; one thread for each
 * graph. */
#ifndef RKB_GENERATOR_RECOMPUTE_H
#define RKB_GENERATOR_RECOMPUTE_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* Removes stored values that their readers can compute from other values which they read anyway.  A value is
 * removed if three conditions hold.  The launch that writes it also writes another value; no product reads it (a
 * product's factors are copied as they are); and without it the schedule's least time is shorter, or as long
 * with fewer bytes.  If the least time improves in the same way, a product is stored instead of several values
 * that are computed from it.  Does nothing where the target's bandwidth is not known. */
void rkb_schedule_recompute(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule);

#endif
