/* Cases whose sizes tell dims apart: what a size of the graph is, as an expression of the dims, is found by looking at its value in
 * many of them. */
#ifndef RKB_TASK_PROBE_H
#define RKB_TASK_PROBE_H

#include "task/bound_case.h"

/* Binds a case of random dims: at least 2 wherever the domain allows it, distinct in most draws, half of them multiples of 8.  NULL
 * where the draw does not satisfy the task's conditions; draw again.  Free it with rkb_bound_free.  Any thread. */
rkb_bound_t *rkb_task_probe(const rkb_task_t *task, rkb_random_t *stream);

/* The largest values of all dims, with a random choice where a dim has choices.  NULL as above. */
rkb_bound_t *rkb_task_probe_largest(const rkb_task_t *task, rkb_random_t *stream);

#endif
