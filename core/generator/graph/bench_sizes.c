/* Sizes, and numbers of elements, in the bench cases, by which schedules are chosen.  Pure functions. */
#include "generator/graph/bench_sizes.h"

#include <math.h>

double rkb_bench_size(const rkb_graph_t *graph, uint32_t size) {
   return exp(graph->sizes.list[size].constant
                 ? log((double)graph->sizes.list[size].at[0])
                 : rkb_sizes_bench(&graph->sizes, graph->sizes.list[size].text));
}

double rkb_bench_elements(const rkb_graph_t *graph, uint32_t node) {
   double elements = 1;
   for (uint32_t d = 0; d < graph->nodes[node].rank; d++)
      elements *= rkb_bench_size(graph, graph->nodes[node].shape[d]);
   return elements;
}

double rkb_bench_row(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   double longest = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      longest = fmax(longest, rkb_bench_elements(graph, graph->nodes[launch->anchors[a]].inputs[0]) /
                                 rkb_bench_elements(graph, launch->anchors[a]));
   return longest;
}
