/* Finds the tensors in which NaN reaches a relu, a maximum or a clamp.  Pure functions; one thread, while a
 * case is bound. */
#ifndef RKB_TASK_NAN_SOURCES_H
#define RKB_TASK_NAN_SOURCES_H

#include "task/bound_case.h"

/* Names of operations that return one of their operands.  With NaN, fmaxf and a comparison may return another
 * operand than PyTorch does. */
extern const char *const rkb_nan_choosing[];

/* Whether the reference defines for every element whether it is NaN: all operations of the graph turn NaN
 * into NaN. */
bool rkb_nan_is_kept(const rkb_program_t *program);

/* Marks tensors through which NaN reaches the operands of an operation that chooses.  These are the tensors
 * that are added on the way, element by element.  If there are none, they are the tensors that are
 * multiplied, because every sum with a NaN factor is NaN.  may_change says whether a tensor may hold other
 * numbers than its recipe's.  False when there is no such tensor. */
bool rkb_nan_sources(const rkb_bound_t *bound, bool (*may_change)(const rkb_bound_t *bound, uint32_t tensor),
                     bool *marked);

#endif
