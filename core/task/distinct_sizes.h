/* Cases whose sizes tell dims apart.  By looking at a size of the graph in many of these cases, a caller
 * finds the size as an expression of the dims. */
#ifndef RKB_TASK_DISTINCT_SIZES_H
#define RKB_TASK_DISTINCT_SIZES_H

#include "task/bound_case.h"

/* Binds a case of random dims.  Dims are at least 2 wherever the domain allows it, distinct in most draws,
 * and half of them multiples of 8; in half of the cases every dim that can be a multiple of 16 is one.  draw:
 * the number of the draw, from 0 on; successive draws go through the combinations of choices.  NULL when the
 * draw does not satisfy the task's conditions; draw again.  Free it with rkb_bound_free.  Any thread. */
rkb_bound_t *rkb_task_draw_distinct_sizes(const rkb_task_t *task, rkb_random_t *stream, uint32_t draw);

/* Binds a case with the largest value of every dim; a dim with choices gets one of them.  NULL as above. */
rkb_bound_t *rkb_task_draw_largest_distinct_sizes(const rkb_task_t *task, rkb_random_t *stream,
                                                  uint32_t draw);

#endif
