/* The names of decisions, their values, and which launches may have them.  Pure functions. */
#ifndef RKB_GENERATOR_LAUNCH_DECISIONS_H
#define RKB_GENERATOR_LAUNCH_DECISIONS_H

#include "generator/graph/schedule.h"

const char *rkb_decision_name(uint32_t decision);
/* The word for a value of a decision whose values have words; NULL: the value is written as a number. */
const char *rkb_decision_word(uint32_t decision, int64_t value);
const char *rkb_mapping_name(uint32_t mapping);
/* Whether launches of the mapping may have the decision at all.  rkb_decision_applies answers the same
 * question for one launch. */
bool rkb_mapping_has(uint32_t mapping, uint32_t decision);
/* Whether a root is joined from parts along its last dim, or is a sum of gradients of parts that are joined in this way. */
bool rkb_launch_joins(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Whether this launch has the decision. */
bool rkb_decision_applies(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t decision);
/* The values that the decision may have, ascending; -1 ends the list. */
const int64_t *rkb_decision_values(uint32_t decision);
/* Checks by arithmetic alone whether the launch can work on a device with this much shared memory for a block.
 * NULL: nothing speaks against it; else why it cannot work. */
const char *rkb_launch_refused(const rkb_graph_t *graph, const rkb_launch_t *launch, int64_t shared_bytes);

/* The same for launches that share a kernel. */
const char *rkb_group_refused(const rkb_launch_t *launches, uint32_t count);
/* About how many bytes of shared memory a launch's text declares by itself: tiles of both factors for TILE, and
 * room for the sums of each anchor for other mappings. */
int64_t rkb_launch_fixed_bytes(const rkb_launch_t *launch);
/* Makes a launch share a kernel with another launch that comes before it.  False: their mappings have no such decision. */
bool rkb_schedule_put_beside(const rkb_graph_t *graph, rkb_schedule_t *schedule, uint32_t launch, uint32_t into);

/* Appends a launch with the defaults of its mapping. */
rkb_launch_t *rkb_schedule_add(rkb_schedule_t *schedule, enum rkb_mapping mapping);

#endif
