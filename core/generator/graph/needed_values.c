/* Finds the values that a value of a graph needs directly or through light nodes alone.  Light nodes need not be stored.  Pure
 * functions. */
#include "generator/graph/needed_values.h"

bool rkb_value_needs(const rkb_graph_t *graph, uint32_t value, uint32_t node) {
   if (value == node)
      return true;
   if (value < node || !rkb_node_is_light(&graph->nodes[value]))
      return false;
   for (uint32_t i = 0; i < graph->nodes[value].input_count; i++)
      if (rkb_value_needs(graph, graph->nodes[value].inputs[i], node))
         return true;
   return false;
}

bool rkb_reduction_needs(const rkb_graph_t *graph, uint32_t reduction, uint32_t other) {
   for (uint32_t i = 0; i < graph->nodes[reduction].input_count; i++)
      if (rkb_value_needs(graph, graph->nodes[reduction].inputs[i], other))
         return true;
   return false;
}
