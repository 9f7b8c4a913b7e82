/* Values that launches compute again rather than read.  Pure functions of a graph; one thread a graph. */
#ifndef RKB_GENERATOR_RECOMPUTE_H
#define RKB_GENERATOR_RECOMPUTE_H

#include "generator/schedule.h"
#include "generator/target.h"

/* Stores no value that its readers can compute from others which they read anyway: where a launch writes it beside another value, where no
 * product reads it (its factors are copied as they are), and where the schedule's least time is shorter without it, or the same
 * with fewer bytes.  A product is stored instead of several values that are computed from it, where that is so.  Nothing happens where the
 * target's bandwidth is not known. */
void rkb_schedule_recompute(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule);

#endif
