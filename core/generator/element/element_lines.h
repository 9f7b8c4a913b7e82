/* Launches whose threads own the same vector of several neighbouring rows.  Pure functions. */
#ifndef RKB_GENERATOR_ELEMENT_LINES_H
#define RKB_GENERATOR_ELEMENT_LINES_H

#include "generator/graph/schedule.h"

/* Whether a thread may own several rows' vectors (RKB_LINES): the launch computes no sum, and its first root has rows. */
bool rkb_lines_apply(const rkb_graph_t *graph, const rkb_launch_t *launch);
/* Gives a launch that copies rows which an index picks several rows for each thread, if it has vectors: more loads are then on
 * their way at once. */
void rkb_launch_suit_lines(const rkb_graph_t *graph, rkb_launch_t *launch);

#endif
