/* Where NaN may be put so that a relu, a maximum or a clamp meets it.  Pure functions; one thread, while a case is bound. */
#ifndef RKB_TASK_NAN_SOURCES_H
#define RKB_TASK_NAN_SOURCES_H

#include "task/bound_case.h"

/* Names of operations that take one of their operands: fmaxf and a comparison may take another than PyTorch does. */
extern const char *const rkb_nan_choosing[];

/* Whether the reference says of every element whether it is NaN: the graph has only operations that make NaN of NaN. */
bool rkb_nan_is_kept(const rkb_program_t *program);

/* Marks tensors through which NaN reaches the operands of what chooses: those that are added on the way element by element; where there
 * are none, those that are multiplied, because all sums with a factor that is NaN are NaN.  may_change: whether a tensor may hold other
 * numbers than its recipe's.  False where there are none. */
bool rkb_nan_sources(const rkb_bound_t *bound, bool (*may_change)(const rkb_bound_t *bound, uint32_t tensor),
                     bool *marked);

#endif
