/* Takes a launch of rows apart, so that its reductions can be split.  A pure function of the graph; one thread
 * a graph. */
#include "generator/start/separate_rows.h"

#include <string.h>
#include "generator/decisions/launch_decisions.h"
#include "generator/graph/needed_values.h"
#include "generator/row/moments.h"

/* The pass of each reduction of a row: a reduction comes after the reductions that it needs, but squares around a mean
 * are found in the mean's pass.  Returns the last pass. */
static uint32_t passes_of(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t *passes,
                          bool *moments) {
   uint32_t last = 0;
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      const uint32_t mean = rkb_moments_mean(graph, launch->anchors[a]);
      passes[a] = 0;
      for (uint32_t b = 0; b < a; b++)
         if (launch->anchors[b] == mean) {
            passes[a] = passes[b] > passes[a] ? passes[b] : passes[a];
            moments[passes[b]] = true;
         } else if (rkb_reduction_needs(graph, launch->anchors[a], launch->anchors[b]) &&
                    passes[b] + 1 > passes[a])
            passes[a] = passes[b] + 1;
      last = passes[a] > last ? passes[a] : last;
   }
   return last;
}

/* The launch, among these, that writes elements of the same shape. */
static rkb_launch_t *part_like(const rkb_graph_t *graph, rkb_launch_t *parts, uint32_t count, uint32_t root) {
   for (uint32_t p = 0; p < count; p++) {
      const rkb_node_t *other = &graph->nodes[parts[p].roots[0]], *mine = &graph->nodes[root];
      if (parts[p].mapping == RKB_MAP_ELEMENT && other->rank == mine->rank &&
          memcmp(other->shape, mine->shape, mine->rank * sizeof *mine->shape) == 0)
         return &parts[p];
   }
   return NULL;
}

bool rkb_separate_rows(rkb_schedule_t *schedule, const rkb_graph_t *graph, uint32_t number) {
   const rkb_launch_t whole = schedule->launches[number];
   rkb_launch_t parts[2 * RKB_MAX_LAUNCH_NODES];
   uint32_t count = 0, passes[RKB_MAX_LAUNCH_NODES];
   bool moments[RKB_MAX_LAUNCH_NODES] = {0};
   if (whole.mapping != RKB_MAP_ROW || graph->nodes[whole.anchors[0]].kind != RKB_NODE_REDUCE)
      return false;
   const uint32_t last = passes_of(graph, &whole, passes, moments);
   for (; count <= last; count++) {
      rkb_launch_t *part = &parts[count];
      *part = whole;
      part->anchor_count = part->root_count = 0;
      for (uint32_t a = 0; a < whole.anchor_count; a++)
         if (passes[a] == count)
            part->anchors[part->anchor_count++] = part->roots[part->root_count++] = whole.anchors[a];
      part->decisions[RKB_KEEP] = part->decisions[RKB_STRETCHES] = part->decisions[RKB_WARPS] = 0;
      part->decisions[RKB_MOMENTS] = moments[count];
      part->decisions[RKB_ROWS] = part->decisions[RKB_SHORTER] = part->decisions[RKB_CLUSTER] = 1;
      if (whole.decisions[RKB_ROWS] > 1)
         part->decisions[RKB_THREADS] = 256;
   }
   for (uint32_t r = 0; r < whole.root_count; r++) {
      bool anchor = false;
      for (uint32_t a = 0; a < whole.anchor_count; a++)
         anchor |= whole.anchors[a] == whole.roots[r];
      rkb_schedule_t single = {0};
      if (anchor)
         continue;
      rkb_launch_t *part = part_like(graph, parts, count, whole.roots[r]);
      if (!part) {
         parts[count] = *rkb_schedule_add(&single, RKB_MAP_ELEMENT);
         part = &parts[count++];
      }
      part->roots[part->root_count++] = whole.roots[r];
   }
   if (count < 2 || schedule->count + count - 1 > RKB_MAX_SCHEDULE_LAUNCHES)
      return false;
   memmove(&schedule->launches[number + count], &schedule->launches[number + 1],
           (schedule->count - number - 1) * sizeof whole);
   memcpy(&schedule->launches[number], parts, count * sizeof whole);
   schedule->count += count - 1;
   return true;
}
