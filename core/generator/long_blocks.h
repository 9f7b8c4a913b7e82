/* Blocks of tiles that would take milliseconds.  Pure functions. */
#ifndef RKB_GENERATOR_LONG_BLOCKS_H
#define RKB_GENERATOR_LONG_BLOCKS_H

#include "generator/schedule.h"

/* Whether a block of a product's tile would take milliseconds in a bench case, for which other multiprocessors wait.  No schedule is drawn or changed to
 * that: the checking machine has no time for any such block. */
bool rkb_launch_has_long_blocks(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
