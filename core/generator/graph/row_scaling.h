/* How values scale with statistics of their rows, and where a mask makes them zero.  Pure functions of a
 * graph. */
#ifndef RKB_GENERATOR_ROW_SCALING_H
#define RKB_GENERATOR_ROW_SCALING_H

#include "generator/graph/graph.h"

#define RKB_NO_DEGREE 99

bool rkb_is_operation(const rkb_node_t *node, const char *operation);
/* Whether a node is the exponential of the difference between `from` and the statistic `largest`. */
bool rkb_is_power(const rkb_graph_t *graph, uint32_t number, uint32_t from, uint32_t largest);
/* Whether a value depends on a node through light nodes alone. */
bool rkb_reads(const rkb_graph_t *graph, uint32_t value, uint32_t on);
/* A value scales by a power of a factor of its row: of exp(-largest) if `of` is the largest, else of the sum `of`.
 * Returns the exponent: 1 for exp(x - largest), -1 for a quotient by a sum.  RKB_NO_DEGREE: it scales by no power. */
int rkb_row_scaling_of(const rkb_graph_t *graph, uint32_t number, uint32_t of);
/* Whether a value is 0 wherever the other one is -infinity. */
bool rkb_vanishes(const rkb_graph_t *graph, uint32_t number, uint32_t hidden);
/* Returns the masked scores of which a value takes the exponential: the first operand of the difference in exp(scores - largest).
 * RKB_NO_NODE: there are none.  seen: an array of false, one for each node. */
uint32_t rkb_masked_below(const rkb_graph_t *graph, uint32_t number, bool *seen);

#endif
