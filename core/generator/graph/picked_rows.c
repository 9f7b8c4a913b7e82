/* Finds the tensor that has one number for each row, through views.  Pure functions. */
#include "generator/graph/picked_rows.h"

static bool is_one(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

/* The dim of a value along which all of its elements lie, one for each row.  The value's rank: there is no such dim. */
static uint32_t only_dim(const rkb_graph_t *graph, const rkb_node_t *node, uint32_t rows) {
   uint32_t only = node->rank;
   for (uint32_t d = 0; d < node->rank; d++)
      if (only == node->rank && node->shape[d] == rows)
         only = d;
      else if (!is_one(graph, node->shape[d]))
         return node->rank;
   return only;
}

uint32_t rkb_picked_rows(const rkb_graph_t *graph, uint32_t number, uint32_t dim, uint32_t rows) {
   const rkb_node_t *node = &graph->nodes[number];
   while (node->kind == RKB_NODE_EXPAND || node->kind == RKB_NODE_RESHAPE) {
      const rkb_node_t *from = &graph->nodes[node->inputs[0]];
      const uint32_t only = only_dim(graph, from, rows);
      if (only == from->rank || node->shape[dim] != rows ||
          (node->kind == RKB_NODE_EXPAND && (from->rank != node->rank || only != dim)))
         return RKB_NO_NODE;
      number = node->inputs[0];
      node = from;
      dim = only;
   }
   return node->kind == RKB_NODE_INPUT && node->rank == 1 && node->shape[0] == rows ? number : RKB_NO_NODE;
}
