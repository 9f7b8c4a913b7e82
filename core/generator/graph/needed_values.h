/* The values that a value needs through light nodes alone. */
#ifndef RKB_GENERATOR_GRAPH_NEEDED_VALUES_H
#define RKB_GENERATOR_GRAPH_NEEDED_VALUES_H

#include "generator/graph/graph.h"

/* Whether a value needs a node through light nodes alone, and whether a reduction does. */
bool rkb_value_needs(const rkb_graph_t *graph, uint32_t value, uint32_t node);
bool rkb_reduction_needs(const rkb_graph_t *graph, uint32_t reduction, uint32_t other);

#endif
