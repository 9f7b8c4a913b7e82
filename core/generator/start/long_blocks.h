/* Blocks of tiles that would take milliseconds, or too long to compile.  Pure functions. */
#ifndef RKB_GENERATOR_LONG_BLOCKS_H
#define RKB_GENERATOR_LONG_BLOCKS_H

#include "generator/graph/schedule.h"

/* Whether a block of a product's tile would take milliseconds in a bench case, while other multiprocessors
 * wait for it, or has steps whose text is too long to be compiled.  No schedule with such blocks is drawn, and
 * no change makes one: the checking machine's budget is too small for such a block, and the compiler's time limit for
 * such a text. */
bool rkb_launch_has_long_blocks(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
