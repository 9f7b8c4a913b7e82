/* Which sums run over rows, and which along them. */
#include "generator/row/row_range_sums.h"

#include <string.h>

#define MOST_STAGED 528 /* the most stretches that a launch may have: four blocks a multiprocessor */

bool rkb_rows_are_staged(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   return launch->mapping == RKB_MAP_ROW && d[RKB_STAGES] > 1 && d[RKB_PREFETCH] && d[RKB_KEEP] &&
          d[RKB_STRETCHES];
}

static bool is_single(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

bool rkb_stretch_adds(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor) {
   const rkb_node_t *first = &graph->nodes[launch->anchors[0]], *sum = &graph->nodes[launch->anchors[anchor]];
   if (launch->mapping != RKB_MAP_ROW || anchor == 0 || first->kind != RKB_NODE_REDUCE || sum->kind != RKB_NODE_REDUCE ||
       strcmp(sum->operation, "sum") != 0)
      return false;
   const rkb_node_t *row = &graph->nodes[first->inputs[0]], *term = &graph->nodes[sum->inputs[0]];
   if (row->rank != term->rank || memcmp(row->shape, term->shape, row->rank * sizeof *row->shape) != 0)
      return false;
   for (uint32_t d = 0; d < row->rank; d++)
      if ((first->mask >> d & 1) == (sum->mask >> d & 1) && !is_single(graph, row->shape[d]))
         return false;
   return true;
}

bool rkb_launch_has_stretch_sums(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (rkb_stretch_adds(graph, launch, a))
         return true;
   return false;
}

int64_t rkb_stretches_most(const rkb_launch_t *launch) {
   const int64_t *d = launch->decisions;
   if (launch->mapping != RKB_MAP_ROW || !d[RKB_STRETCHES] || !d[RKB_KEEP])
      return 1;
   return rkb_rows_are_staged(launch) && d[RKB_SHORTER] * d[RKB_STRETCHES] > MOST_STAGED
             ? MOST_STAGED / d[RKB_STRETCHES]
             : d[RKB_SHORTER];
}

uint32_t rkb_segment_dim(const rkb_graph_t *graph, uint32_t number) {
   const rkb_node_t *sum = &graph->nodes[number], *term = &graph->nodes[sum->inputs[0]];
   uint32_t dim = RKB_NO_NODE;
   for (uint32_t d = 0; d < term->rank; d++) {
      if (sum->mask >> d & 1 || is_single(graph, term->shape[d]))
         continue;
      if (dim != RKB_NO_NODE)
         return RKB_NO_NODE;
      dim = d;
   }
   return dim != RKB_NO_NODE && dim > 0 && dim + 1 < term->rank ? dim : RKB_NO_NODE;
}

bool rkb_segment_adds(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor) {
   const rkb_node_t *first = &graph->nodes[launch->anchors[0]], *sum = &graph->nodes[launch->anchors[anchor]];
   if (launch->mapping != RKB_MAP_ROW || anchor == 0 || first->kind != RKB_NODE_REDUCE || sum->kind != RKB_NODE_REDUCE ||
       strcmp(sum->operation, "sum") != 0 || rkb_segment_dim(graph, launch->anchors[anchor]) == RKB_NO_NODE)
      return false;
   const rkb_node_t *row = &graph->nodes[first->inputs[0]];
   return first->mask == 1ull << (row->rank - 1) && rkb_segment_dim(graph, launch->anchors[0]) == RKB_NO_NODE;
}

bool rkb_launch_has_segment_sums(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   for (uint32_t a = 1; a < launch->anchor_count; a++)
      if (rkb_segment_adds(graph, launch, a))
         return true;
   return false;
}

bool rkb_row_hands_on(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t anchor) {
   return launch->decisions[RKB_SEGMENTS] ? rkb_segment_adds(graph, launch, anchor) : rkb_stretch_adds(graph, launch, anchor);
}

static bool needs(const rkb_graph_t *graph, uint32_t value, uint32_t node, bool *seen) {
   if (value == node)
      return true;
   if (value < node || seen[value])
      return false;
   seen[value] = true;
   for (uint32_t i = 0; i < graph->nodes[value].input_count; i++)
      if (needs(graph, graph->nodes[value].inputs[i], node, seen))
         return true;
   return false;
}

bool rkb_stretch_ends(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t root) {
   for (uint32_t a = 1; a < launch->anchor_count; a++) {
      bool seen[RKB_MAX_GRAPH_NODES] = {0};
      if (rkb_row_hands_on(graph, launch, a) && needs(graph, root, launch->anchors[a], seen))
         return true;
   }
   return false;
}
