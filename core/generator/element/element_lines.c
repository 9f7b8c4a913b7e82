/* Launches whose threads own the same vector of several neighbouring rows.  Pure functions. */
#include "generator/element/element_lines.h"

#include <string.h>

/* Rows of a thread, and threads of a block, where an index picks the rows that are copied.  Measured on an H200 with rows
 * of 8,192 and 3,200 bytes (docs/decisions/schedules.md). */
#define PICKED_LINES 2
#define PICKED_THREADS 128

bool rkb_lines_apply(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   return launch->mapping == RKB_MAP_ELEMENT && launch->anchor_count == 0 && graph->nodes[launch->roots[0]].rank >= 2;
}

/* Looks through the light nodes that make a value.  Returns whether one picks elements by an index; *computes: whether one
 * makes a new number, instead of copying it. */
static bool picks(const rkb_graph_t *graph, uint32_t number, bool *seen, bool *computes) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number] || !rkb_node_is_light(node))
      return false;
   seen[number] = true;
   *computes |= node->kind == RKB_NODE_MAP && strcmp(node->operation, "copy") != 0 && strcmp(node->operation, "convert") != 0;
   bool found = node->kind == RKB_NODE_GATHER;
   for (uint32_t i = 0; i < node->input_count; i++)
      found |= picks(graph, node->inputs[i], seen, computes);
   return found;
}

void rkb_launch_suit_lines(const rkb_graph_t *graph, rkb_launch_t *launch) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0}, found = false, computes = false;
   int64_t *d = launch->decisions;
   if (!rkb_lines_apply(graph, launch) || d[RKB_PLACES] > 1 || d[RKB_VECTOR] == 1)
      return;
   for (uint32_t r = 0; r < launch->root_count; r++)
      found |= picks(graph, launch->roots[r], seen, &computes);
   if (!found || computes)
      return;
   d[RKB_LINES] = PICKED_LINES;
   d[RKB_THREADS] = PICKED_THREADS;
}
