/* Cases whose sizes tell dims apart: what a size of the graph is, as an expression of the dims, is found by looking at its value in
 * many of them. */
#ifndef RKB_TASK_PROBE_H
#define RKB_TASK_PROBE_H

#include "task/bound_case.h"

/* Binds a case of random dims: at least 2 wherever the domain allows it, distinct in most draws, half of them multiples of 8; in half
 * of the cases all dims are multiples of 16 that can be.  draw: which one it is, from 0 on; choices take turns with it.  NULL where the
 * draw does not satisfy the task's conditions; draw again.  Free it with rkb_bound_free.  Any thread. */
rkb_bound_t *rkb_task_probe(const rkb_task_t *task, rkb_random_t *stream, uint32_t draw);

/* The largest values of all dims, with a choice where a dim has choices.  NULL as above. */
rkb_bound_t *rkb_task_probe_largest(const rkb_task_t *task, rkb_random_t *stream, uint32_t draw);

#endif
