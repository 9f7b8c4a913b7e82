/* Tiles that are too costly: a block would take milliseconds, or its text would take too long to compile.  Pure functions. */
#ifndef RKB_GENERATOR_TOO_COSTLY_TILES_H
#define RKB_GENERATOR_TOO_COSTLY_TILES_H

#include "generator/graph/schedule.h"

/* Whether the tile of a launch's product is too costly.  Either a block would take milliseconds in a bench case, which
 * exceeds the checking machine's budget.  Or the unrolled text of its steps would exceed the compiler's time limit.  So no
 * schedule with these tiles is drawn, and no change makes one. */
bool rkb_launch_has_too_costly_tile(const rkb_graph_t *graph, const rkb_launch_t *launch);

#endif
