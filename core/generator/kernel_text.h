/* Writes a schedule as a kernel file: manifest, schedule, device code. */
#ifndef RKB_GENERATOR_KERNEL_TEXT_H
#define RKB_GENERATOR_KERNEL_TEXT_H

#include "generator/schedule.h"

/* A .cu text, owned by the caller (free).  shared_bytes: of a block on the target, at most.  RKB_ERR_INVALID: the schedule is not legal; err
 * says why.  Any thread, one a graph. */
int rkb_kernel_write(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, char **text,
                     rkb_error_t *err);
/* The same without a text: whether the schedule is legal. */
bool rkb_schedule_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes);

#endif
