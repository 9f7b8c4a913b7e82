/* The types in which launches store values for other launches.  Pure functions. */
#include "generator/decisions/stored_type.h"

#include "generator/text/fragments.h"
#include "generator/graph/target.h"

/* Whether the schedule multiplies this product's factors as bfloat16; true without a schedule. */
static bool multiplies_bf16(const rkb_schedule_t *schedule, uint32_t product) {
   bool found = !schedule;
   for (uint32_t l = 0; schedule && l < schedule->count; l++) {
      const rkb_launch_t *launch = &schedule->launches[l];
      for (uint32_t a = 0; a < launch->anchor_count; a++) {
         if (launch->anchors[a] != product)
            continue;
         if (launch->mapping != RKB_MAP_TENSOR || launch->decisions[RKB_TENSOR] != RKB_TENSOR_PATH_BF16)
            return false;
         found = true;
      }
   }
   return found;
}

/* Whether only products read the value, directly or through views, and all of them round it to bfloat16. */
static bool is_rounded_factor(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t node) {
   bool read = false;
   if (rkb_node_is_output(graph, node))
      return false;
   for (uint32_t n = node + 1; n < graph->node_count; n++) {
      const rkb_node_t *reader = &graph->nodes[n];
      for (uint32_t i = 0; i < reader->input_count; i++) {
         if (reader->inputs[i] != node)
            continue;
         const bool multiplied =
            rkb_fragment_is_legal(graph, n, RKB_TENSOR_PATH_BF16) && multiplies_bf16(schedule, n);
         if (!multiplied && !(rkb_node_is_view(reader) && is_rounded_factor(graph, schedule, n)))
            return false;
         read = true;
      }
   }
   return read;
}

uint32_t rkb_stored_type(const rkb_graph_t *graph, const rkb_schedule_t *schedule, uint32_t node) {
   /* docs/numerics.md: a value that the task's graph names may be rounded where it is stored. */
   const uint32_t own = graph->nodes[node].dtype;
   if (graph->nodes[node].kind == RKB_NODE_LAYER) /* its own launch reads it too */
      return RKB_F32;
   if (!rkb_dtype_is_float(own) || own == RKB_BF16 || own == RKB_F16)
      return own;
   return is_rounded_factor(graph, schedule, node) ? RKB_BF16 : RKB_F32;
}

bool rkb_may_store_bf16(const rkb_graph_t *graph, uint32_t node) {
   return rkb_stored_type(graph, NULL, node) == RKB_BF16;
}
