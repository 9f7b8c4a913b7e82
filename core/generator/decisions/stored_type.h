/* The types in which launches store values for other launches.  Pure functions. */
#ifndef RKB_GENERATOR_STORED_TYPE_H
#define RKB_GENERATOR_STORED_TYPE_H

#include "generator/graph/schedule.h"

/* The type of a value that a launch of the schedule stores for other launches.  If only products read a
 * float, and all of them round their factors to bfloat16, the launch stores the float as bfloat16: the products
 * would round it to the same number, and tensor maps can then copy it. */
uint32_t rkb_stored_type(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t node);
/* Whether only products read a value, all of which may round it to bfloat16. */
bool rkb_may_store_bf16(const rkb_graph_t *graph, uint32_t node);

#endif
