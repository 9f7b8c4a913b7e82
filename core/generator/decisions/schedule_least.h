/* The least time of a schedule: the time for what its launches must move and multiply, at a device's peak
 * rates.  Pure functions; one thread for each graph.
 *
 * No kernel of the schedule is faster than this time, whatever its tiles are.  Uncertain traffic does not count: a kernel may not read
 * all elements behind a slice, a mask or an index, and a tensor that fits into the second-level cache may stay there between two launches. */
#ifndef RKB_GENERATOR_SCHEDULE_LEAST_H
#define RKB_GENERATOR_SCHEDULE_LEAST_H

#include "generator/graph/schedule.h"
#include "generator/graph/target.h"

/* The geometric mean of the seconds over the task's bench cases; 0 where the task has none.  bytes, where not
 * NULL: the same mean of the bytes that its launches move. */
double rkb_schedule_least(const rkb_graph_t *graph, const rkb_target_t *target,
                          const rkb_schedule_t *schedule, double *bytes);

#endif
