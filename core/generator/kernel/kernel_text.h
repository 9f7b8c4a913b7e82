/* Writes a schedule as a kernel file: manifest, schedule, device code. */
#ifndef RKB_GENERATOR_KERNEL_TEXT_H
#define RKB_GENERATOR_KERNEL_TEXT_H

#include "generator/graph/schedule.h"

/* Writes a .cu text, which the caller owns (free).  shared_bytes: most shared memory of a block on the
 * target.  RKB_ERR_INVALID: the schedule is not legal; err says why.  Any thread, one for each graph. */
int rkb_kernel_write(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes, char **text,
                     rkb_error_t *err);
/* The same without returning a text: whether the schedule is legal. */
bool rkb_schedule_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, int64_t shared_bytes);
/* Whether one of the launches can be written, where those before it are known to be legal.  Outputs that no launch
 * writes count as above. */
bool rkb_schedule_launch_is_legal(rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t number,
                                  int64_t shared_bytes);
/* Whether a launch of a product would be legal by tiles, whatever its mapping is now.  A thread that owns one
 * element may compute the product at several places for it (halves that are multiplied, pairs that are
 * rotated); a tile may not.  True for launches without a product. */
bool rkb_schedule_has_tiles(rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t number,
                            int64_t shared_bytes);

#endif
