/* Means and squares around them. */
#include "generator/row/moments.h"

#include <string.h>

static bool is_map(const rkb_node_t *node, const char *operation) {
   return node->kind == RKB_NODE_MAP && strcmp(node->operation, operation) == 0;
}

uint32_t rkb_moments_mean(const rkb_graph_t *graph, uint32_t reduce) {
   const rkb_node_t *nodes = graph->nodes, *squares = &nodes[reduce];
   if (squares->kind != RKB_NODE_REDUCE || strcmp(squares->operation, "sum") != 0)
      return RKB_NO_NODE;
   const rkb_node_t *square = &nodes[squares->inputs[0]];
   if (!is_map(square, "mul") || square->inputs[0] != square->inputs[1])
      return RKB_NO_NODE;
   const rkb_node_t *away = &nodes[square->inputs[0]];
   if (!is_map(away, "sub") || !is_map(&nodes[away->inputs[1]], "divide_by_count"))
      return RKB_NO_NODE;
   const rkb_node_t *mean = &nodes[away->inputs[1]], *sum = &nodes[mean->inputs[0]];
   const bool whole = mean->correction == RKB_NO_NODE || mean->correction == 0;
   return whole && sum->kind == RKB_NODE_REDUCE && strcmp(sum->operation, "sum") == 0 && sum->inputs[0] == away->inputs[0] &&
                sum->mask == squares->mask && nodes[sum->inputs[0]].rank == square->rank
             ? mean->inputs[0]
             : RKB_NO_NODE;
}

uint32_t rkb_launch_moments(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *mean) {
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const uint32_t sum = rkb_moments_mean(graph, launch->anchors[a]);
      for (*mean = 0; sum != RKB_NO_NODE && *mean < launch->anchor_count; ++*mean)
         if (launch->anchors[*mean] == sum)
            return a;
   }
   return launch->anchor_count;
}
