/* Blocks of tiles that would take milliseconds, or too long to compile.  Pure functions. */
#ifndef RKB_GENERATOR_LONG_BLOCKS_H
#define RKB_GENERATOR_LONG_BLOCKS_H

#include "generator/graph/schedule.h"

/* Whether a block of a product's tile is too long.  Either it would take milliseconds in a bench case, while
 * other multiprocessors wait for it, or the text of its steps is too long to be compiled.  The first exceeds the
 * checking machine's budget, the second the compiler's time limit.  So no schedule with these blocks is drawn,
 * and no change makes one. */
bool rkb_launch_has_long_blocks(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
