/* A positive factor of all scores: their statistics are of the scores without it, and the exponents have it.  One thread.
 *
 * The largest of c x is c times the largest x for c > 0, and exp(c x - c largest) is a power of two with the exponent (x - largest) c log2(e),
 * one multiply-add of each score instead of two operations. */
#include "generator/online/online.h"

#include "generator/graph/degree.h"

static bool is_stored(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t value) {
   for (uint32_t r = 0; r < launch->root_count; r++)
      if (launch->roots[r] == value)
         return true;
   for (uint32_t i = 0; i < graph->output_count; i++)
      if (graph->outputs[i].node == value)
         return true;
   return false;
}

/* Whether a node is a difference that only powers read. */
static bool is_exponent(const rkb_graph_t *graph, uint32_t number, uint32_t from, uint32_t largest) {
   bool read = false;
   for (uint32_t n = number + 1; n < graph->node_count; n++)
      for (uint32_t i = 0; i < graph->nodes[n].input_count; i++)
         if (graph->nodes[n].inputs[i] == number) {
            if (!rkb_online_is_power(graph, n, from, largest))
               return false;
            read = true;
         }
   return read;
}

/* Whether a value is read only by the node `next`, by the statistic, and by exponents, perhaps under views. */
static bool is_read_so(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t value, uint32_t next, uint32_t from, uint32_t largest) {
   if (is_stored(graph, launch, value))
      return false;
   for (uint32_t n = value + 1; n < graph->node_count; n++)
      for (uint32_t i = 0; i < graph->nodes[n].input_count; i++) {
         if (graph->nodes[n].inputs[i] != value || n == next || n == largest || is_exponent(graph, n, from, largest))
            continue;
         if (!rkb_node_is_view(&graph->nodes[n]) || !is_read_so(graph, launch, n, next, from, largest))
            return false;
      }
   return true;
}

/* Whether a node only hides places by minus infinity, or changes the order of dims. */
static bool only_hides(const rkb_node_t *node) {
   return node->kind == RKB_NODE_FLIP || (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value < 0 &&
                                          node->reals[0].value * 0 != 0);
}

void rkb_online_find_scale(const rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t first = rkb_online_largest(writer, o);
   o->scaled = RKB_NO_NODE;
   if (first == RKB_ONLINE_MANY || o->nodes.score_count != 1)
      return;
   const uint32_t largest = o->nodes.reduces[first], from = graph->nodes[largest].inputs[0];
   uint32_t value = from, next = RKB_NO_NODE;
   if (!is_read_so(graph, o->launch, largest, RKB_NO_NODE, from, largest))
      return;
   for (; only_hides(&graph->nodes[value]); value = graph->nodes[value].inputs[0]) {
      if (!is_read_so(graph, o->launch, value, next, from, largest))
         return;
      next = value;
   }
   const rkb_node_t *scaled = &graph->nodes[value];
   if (rkb_is_operation(scaled, "mul_scalar") && scaled->inputs[0] == o->nodes.scores[0] && scaled->reals[0].least > 0 &&
       is_read_so(graph, o->launch, value, next, from, largest))
      o->scaled = value;
}
