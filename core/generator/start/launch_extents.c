/* The extents of a launch's product in the bench cases (tensor_start.h).  Pure functions; one thread for each graph. */
#include "generator/graph/bench_sizes.h"
#include "generator/start/tensor_start.h"
#include "generator/text/product_index.h"
#include "generator/tile/rows_by_matrix.h"

#define MEAN UINT32_MAX /* instead of a bench case's number */

static double size_in(const rkb_graph_t *graph, uint32_t size, uint32_t bench) {
   const rkb_size_t *s = &graph->sizes.list[size];
   return bench == MEAN || s->constant ? rkb_bench_size(graph, size)
                                       : rkb_sizes_bench_at(&graph->sizes, s->text, bench);
}

static double elements_in(const rkb_graph_t *graph, uint32_t node, uint32_t bench) {
   double elements = 1;
   for (uint32_t d = 0; d < graph->nodes[node].rank; d++)
      elements *= size_in(graph, graph->nodes[node].shape[d], bench);
   return elements;
}

static rkb_extent_t extent_in(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t bench) {
   const uint32_t number = launch->anchors[0];
   const rkb_node_t *node = &graph->nodes[number], *left = &graph->nodes[node->inputs[0]],
                    *right = &graph->nodes[node->inputs[1]];
   const uint32_t rank = node->rank;
   rkb_extent_t e = {.m = 1, .n = 1, .depth = 1, .groups = 1};
   if (node->kind == RKB_NODE_MATMUL) {
      for (uint32_t d = 0; d + 2 < rank; d++)
         e.groups *= size_in(graph, node->shape[d], bench);
      e.m = size_in(graph, node->shape[rank - 2], bench);
      e.n = size_in(graph, node->shape[rank - 1], bench);
      e.depth = size_in(graph, left->shape[left->rank - (graph->sizes.list[node->integers[0]].at[0] ? 2 : 1)],
                        bench);
      uint32_t side;
      const uint32_t pick = rkb_rows_by_matrix_pick(graph, number, &side);
      if (pick != RKB_NO_NODE)
         e.matrices = size_in(graph, graph->nodes[graph->nodes[pick].inputs[0]].shape[0], bench);
      e.terms = rkb_rows_by_matrix_put(graph, number) != RKB_NO_NODE;
      if (e.terms)
         e.matrices = size_in(graph, node->shape[0], bench);
      return e;
   }
   e.groups = size_in(graph, node->integers[1], bench);
   const bool of_weight = node->kind == RKB_NODE_CONVOLUTION_WEIGHT;
   const double all = elements_in(graph, number, bench);
   e.m = size_in(graph, node->shape[of_weight ? 0 : 1], bench) / e.groups;
   e.n = all / (e.m * e.groups);
   if (of_weight)
      e.depth = elements_in(graph, node->inputs[1], bench) / size_in(graph, right->shape[1], bench);
   else {
      e.depth = size_in(graph, right->shape[node->kind == RKB_NODE_CONVOLUTION ? 1 : 0], bench) /
                (node->kind == RKB_NODE_CONVOLUTION ? 1 : e.groups);
      for (uint32_t d = 2; d < right->rank; d++)
         e.depth *= size_in(graph, right->shape[d], bench);
   }
   if (launch->root_count && !rkb_product_is_turned(graph, number, launch->roots[0])) {
      const double channels = e.m;
      e.m = e.n;
      e.n = channels;
   }
   return e;
}

rkb_extents_t rkb_launch_extents(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   rkb_extents_t e = {.mean = extent_in(graph, launch, MEAN)};
   while (e.count < RKB_MOST_EXTENTS && rkb_task_case(graph->sizes.task, RKB_CASE_BENCH, e.count)) {
      e.cases[e.count] = extent_in(graph, launch, e.count);
      e.count++;
   }
   if (!e.count)
      e.cases[e.count++] = e.mean;
   return e;
}
