/* Values that launches compute again rather than read.  Owns nothing; one thread for each graph. */
#include "generator/start/recompute.h"

#include "generator/graph/needed_values.h"
#include "generator/kernel/kernel_text.h"
#include "generator/decisions/schedule_least.h"

/* Whether some product has the value as a factor, directly or through a view. */
static bool is_factor(const rkb_graph_t *graph, uint32_t value) {
   for (uint32_t n = value + 1; n < graph->node_count; n++)
      for (uint32_t i = 0; i < graph->nodes[n].input_count && rkb_node_is_product(&graph->nodes[n]); i++) {
         uint32_t from = graph->nodes[n].inputs[i];
         while (from != value && rkb_node_is_view(&graph->nodes[from]))
            from = graph->nodes[from].inputs[0];
         if (from == value)
            return true;
      }
   return false;
}

/* Stores the sums of the launch's own rows that a value needs, instead of the value: they are few. */
static void store_sums(const rkb_graph_t *graph, rkb_launch_t *launch, uint32_t value) {
   for (uint32_t a = 0; a < launch->anchor_count; a++) {
      bool stored = graph->nodes[launch->anchors[a]].kind != RKB_NODE_REDUCE || !rkb_value_needs(graph, value, launch->anchors[a]);
      for (uint32_t r = 0; r < launch->root_count; r++)
         stored |= launch->roots[r] == launch->anchors[a];
      if (!stored && launch->root_count < RKB_MAX_LAUNCH_NODES)
         launch->roots[launch->root_count++] = launch->anchors[a];
   }
}

/* Whether a schedule's least time is shorter than another's, or as long with fewer bytes.  Fewer bytes help even then,
 * because a tile does not multiply while it stores its results. */
static bool is_better(const rkb_graph_t *graph, const rkb_target_t *target, const rkb_schedule_t *schedule,
                      double seconds, double bytes) {
   double now;
   const double least = rkb_schedule_least(graph, target, schedule, &now);
   return least < seconds || (least <= seconds && now < bytes);
}

/* Removes a root if the schedule is legal and faster without it. */
static bool drop(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule, uint32_t number, uint32_t root) {
   rkb_launch_t *launch = &schedule->launches[number];
   const rkb_launch_t before = *launch;
   double bytes;
   const double with = rkb_schedule_least(graph, target, schedule, &bytes);
   for (uint32_t r = root; r + 1 < launch->root_count; r++)
      launch->roots[r] = launch->roots[r + 1];
   launch->root_count--;
   store_sums(graph, launch, before.roots[root]);
   if (is_better(graph, target, schedule, with, bytes) &&
       rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      return true;
   *launch = before;
   return false;
}

/* Whether a launch may leave a value to its readers, which then compute it. */
static bool may_leave(const rkb_graph_t *graph, uint32_t value) {
   return rkb_node_is_light(&graph->nodes[value]) && !rkb_node_is_output(graph, value) && !is_factor(graph, value);
}

/* Stores a product of matrices instead of several values that are computed from it, if the schedule is then
 * legal and faster. */
static void store_product(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule,
                          uint32_t number) {
   rkb_launch_t *launch = &schedule->launches[number];
   const rkb_launch_t before = *launch;
   double bytes;
   const double with = rkb_schedule_least(graph, target, schedule, &bytes);
   if (launch->anchor_count != 1 || graph->nodes[launch->anchors[0]].kind != RKB_NODE_MATMUL)
      return;
   launch->root_count = 0;
   launch->roots[launch->root_count++] = launch->anchors[0];
   for (uint32_t r = 0; r < before.root_count; r++)
      if (before.roots[r] != launch->anchors[0] && !may_leave(graph, before.roots[r]))
         launch->roots[launch->root_count++] = before.roots[r];
   if (launch->root_count >= before.root_count || !is_better(graph, target, schedule, with, bytes) ||
       !rkb_schedule_is_legal(graph, schedule, target->shared_bytes))
      *launch = before;
}

void rkb_schedule_recompute(rkb_graph_t *graph, const rkb_target_t *target, rkb_schedule_t *schedule) {
   if (!(target->bytes_a_second > 0))
      return;
   for (uint32_t l = 0; l < schedule->count; l++) {
      for (uint32_t r = 0; r < schedule->launches[l].root_count && schedule->launches[l].root_count > 1;)
         if (!may_leave(graph, schedule->launches[l].roots[r]) || !drop(graph, target, schedule, l, r))
            r++;
      store_product(graph, target, schedule, l);
   }
}
