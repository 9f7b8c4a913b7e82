/* Which role each anchor of a launch over scores has, and the lengths of the rows that it multiplies.  Pure
 * functions of a graph. */
#include "generator/online/online_nodes.h"

#include <string.h>
#include "generator/graph/bench_sizes.h"
#include "generator/graph/row_scaling.h"
#include "generator/graph/needed_values.h"
#include "generator/text/index.h"
#include "generator/text/writer.h"
#include "generator/online/online_warpgroups.h"

/* Finds the reductions that are not statistics but add up an out's matrices.  False: some outs are added up, and others are not. */
static bool find_totals(const rkb_graph_t *graph, rkb_online_nodes_t *nodes) {
   for (uint32_t r = 0; r < nodes->reduce_count;) {
      const rkb_node_t *reduce = &graph->nodes[nodes->reduces[r]];
      uint32_t out = 0;
      while (out < nodes->out_count && nodes->outs[out] != reduce->inputs[0])
         out++;
      if (out == nodes->out_count) {
         r++;
         continue;
      }
      if (strcmp(reduce->operation, "sum") != 0 || reduce->rank < 3 || reduce->mask != UINT64_C(1) << (reduce->rank - 3))
         return false;
      nodes->totals[out] = nodes->reduces[r];
      nodes->total_count++;
      memmove(&nodes->reduces[r], &nodes->reduces[r + 1], (--nodes->reduce_count - r) * sizeof *nodes->reduces);
   }
   return nodes->total_count == 0 || nodes->total_count == nodes->out_count;
}

bool rkb_online_nodes(const rkb_graph_t *graph, const rkb_launch_t *launch, rkb_online_nodes_t *nodes) {
   *nodes = (rkb_online_nodes_t){0};
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const uint32_t number = launch->anchors[a];
      const rkb_node_t *node = &graph->nodes[number];
      uint32_t side = 2;
      if (node->kind == RKB_NODE_REDUCE) {
         if (nodes->reduce_count == (sizeof nodes->scores / sizeof *nodes->scores))
            return false;
         nodes->reduces[nodes->reduce_count++] = number;
         continue;
      }
      if (node->kind != RKB_NODE_MATMUL)
         return false;
      for (uint32_t b = 0; b < launch->anchor_count; b++)
         for (uint32_t s = 0; s < 2 && b != a; s++)
            side = side == 2 && rkb_reads(graph, node->inputs[s], launch->anchors[b]) ? s : side;
      if ((side == 2 ? nodes->score_count : nodes->out_count) == (sizeof nodes->scores / sizeof *nodes->scores))
         return false;
      if (side == 2)
         nodes->scores[nodes->score_count++] = number;
      else {
         nodes->made_side[nodes->out_count] = side;
         nodes->outs[nodes->out_count++] = number;
      }
   }
   return find_totals(graph, nodes) && nodes->score_count > 0 && nodes->reduce_count + nodes->out_count > 0;
}

static uint32_t row_size(const rkb_graph_t *graph, uint32_t number, uint32_t side, bool of_depth) {
   const rkb_node_t *node = &graph->nodes[number], *input = &graph->nodes[node->inputs[side]];
   const bool turned = (graph->sizes.list[node->integers[side]].at[0] != 0) != (side == 1);
   return input->shape[input->rank - (turned == of_depth ? 2 : 1)];
}

uint32_t rkb_online_heads(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *size, int64_t heads[RKB_ONLINE_HEADS]) {
   rkb_online_nodes_t nodes;
   uint32_t count = 0, found = UINT32_MAX;
   heads[0] = 0;
   if (!rkb_online_nodes(graph, launch, &nodes))
      return 0;
   for (uint32_t i = 0; i < nodes.score_count + nodes.out_count; i++) {
      const uint32_t width = i < nodes.score_count ? row_size(graph, nodes.scores[i], 0, true)
                                                   : row_size(graph, nodes.outs[i - nodes.score_count],
                                                              1 - nodes.made_side[i - nodes.score_count], false);
      if (graph->sizes.list[width].constant) {
         heads[0] = graph->sizes.list[width].at[0] > heads[0] ? graph->sizes.list[width].at[0] : heads[0];
         continue;
      }
      if (found != UINT32_MAX && found != width)
         return 0;
      found = width;
   }
   *size = found;
   if (found == UINT32_MAX)
      return 1;
   count = rkb_size_values(&graph->sizes.list[found], RKB_ONLINE_HEADS, heads);
   return count && heads[count - 1] <= 256 ? count : 0;
}

double rkb_online_rows(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_online_nodes_t nodes;
   const bool known = rkb_online_nodes(graph, launch, &nodes), totals = known && nodes.total_count;
   const rkb_node_t *last = &graph->nodes[totals ? nodes.outs[nodes.out_count - 1] : launch->anchors[launch->anchor_count - 1]];
   if (last->kind == RKB_NODE_REDUCE)
      return rkb_bench_size(graph, last->shape[last->rank - 2]);
   const bool left = !known || nodes.made_side[nodes.out_count - 1] == 0;
   return rkb_bench_size(graph, last->shape[last->rank - (left ? 2 : 1)]);
}

uint32_t rkb_online_share(const rkb_graph_t *graph, const rkb_online_nodes_t *nodes) {
   uint32_t found = RKB_NO_NODE;
   for (uint32_t n = 0; n < graph->node_count && nodes->score_count > 1; n++) {
      if (!rkb_is_operation(&graph->nodes[n], "div") ||
          !rkb_is_sum_of_powers(graph, graph->nodes[n].inputs[1]))
         continue;
      bool alone = rkb_value_needs(graph, n, nodes->scores[0]);
      for (uint32_t s = 1; s < nodes->score_count; s++)
         alone &= !rkb_value_needs(graph, n, nodes->scores[s]);
      if (alone && graph->nodes[n].rank == graph->nodes[nodes->scores[0]].rank)
         found = n;
   }
   return found;
}

bool rkb_online_has_share(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_online_nodes_t nodes;
   return launch->mapping == RKB_MAP_ONLINE_TENSOR && launch->decisions[RKB_COPY] == RKB_COPY_TENSOR &&
          rkb_online_nodes(graph, launch, &nodes) && rkb_online_share(graph, &nodes) != RKB_NO_NODE;
}
