/* Long rows, and columns whose values no cache holds (columns_start.h). */
#include "generator/start/columns_start.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "generator/graph/bench_sizes.h"
#include "generator/graph/needed_values.h"
#include "generator/kernel/kernel_text.h"

#define LONG_ROW 65536

/* Whether some reductions of a launch need others. */
static bool has_passes(const rkb_graph_t *graph, const rkb_launch_t *launch) {
   for (uint32_t a = 0; a < launch->anchor_count; a++)
      for (uint32_t b = 0; b < launch->anchor_count; b++)
         if (rkb_reduction_needs(graph, launch->anchors[a], launch->anchors[b]))
            return true;
   return false;
}

/* A few long rows leave most of the device idle, unless each pass is split.  But a pass that is a launch of its own
 * reads its rows from memory again.  If there are more rows than an eighth of the multiprocessors, one launch is
 * faster by the profiler's model.  If the cache does not hold the rows, all passes read memory anyway.  On an H100,
 * 32 blocks, each with a row of 16 MB, took twice as long as a kernel of split passes. */
bool rkb_rows_want_passes(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_launch_t *launch) {
   const double rows = rkb_bench_elements(graph, launch->anchors[0]),
                length = rkb_bench_elements(graph, graph->nodes[launch->anchors[0]].inputs[0]) / rows;
   const bool again = has_passes(graph, launch) && rows * length * 4 > target->cache_bytes;
   return (again ? 2 : 8) * rows < (double)target->multiprocessors && length > LONG_ROW;
}

bool rkb_columns_suit(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                      uint32_t number) {
   const rkb_launch_t *columns = &schedule->launches[number];
   if (number == 0 || columns->mapping != RKB_MAP_COLUMN ||
       graph->nodes[columns->anchors[0]].kind != RKB_NODE_REDUCE)
      return false;
   const rkb_launch_t *elements = columns - 1;
   if (elements->mapping != RKB_MAP_ELEMENT || elements->anchor_count ||
       columns->root_count + elements->root_count > RKB_MAX_LAUNCH_NODES ||
       4 * rkb_bench_elements(graph, graph->nodes[columns->anchors[0]].inputs[0]) <= target->cache_bytes)
      return false;
   rkb_schedule_t *tried = rkb_allocate(1, sizeof *tried);
   *tried = *schedule;
   rkb_launch_t *launch = &tried->launches[number];
   memcpy(launch->roots + launch->root_count, elements->roots,
          elements->root_count * sizeof *elements->roots);
   launch->root_count += elements->root_count;
   memmove(launch - 1, launch, (tried->count-- - number) * sizeof *launch);
   const bool joined = rkb_schedule_is_legal(graph, tried, target->shared_bytes);
   if (joined)
      *schedule = *tried;
   free(tried);
   return joined;
}
