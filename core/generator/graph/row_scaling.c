/* How values scale with statistics of their rows, by the rules for products and quotients, and where a mask
 * makes them zero.  Pure functions of a graph. */
#include "generator/graph/row_scaling.h"

#include <string.h>

bool rkb_is_operation(const rkb_node_t *node, const char *operation) {
   return node->kind == RKB_NODE_MAP && strcmp(node->operation, operation) == 0;
}

bool rkb_is_power(const rkb_graph_t *graph, uint32_t number, uint32_t from, uint32_t largest) {
   const rkb_node_t *node = &graph->nodes[number],
                    *below = node->input_count ? &graph->nodes[node->inputs[0]] : NULL;
   if (!rkb_is_operation(node, "exp") || !rkb_is_operation(below, "sub") || below->inputs[0] != from)
      return false;
   uint32_t base = below->inputs[1];
   while (rkb_node_is_view(&graph->nodes[base]))
      base = graph->nodes[base].inputs[0];
   return base == largest;
}

/* Whether a value depends on a node, through light nodes. */
static bool depends(const rkb_graph_t *graph, uint32_t value, uint32_t on, bool *seen) {
   if (value == on)
      return true;
   if (value < on || seen[value] || !rkb_node_is_light(&graph->nodes[value]))
      return false;
   seen[value] = true;
   for (uint32_t i = 0; i < graph->nodes[value].input_count; i++)
      if (depends(graph, graph->nodes[value].inputs[i], on, seen))
         return true;
   return false;
}

bool rkb_reads(const rkb_graph_t *graph, uint32_t value, uint32_t on) {
   bool seen[RKB_MAX_GRAPH_NODES] = {0};
   return depends(graph, value, on, seen);
}

/* A value scales by a power of a factor of its row: of exp(-largest) if `of` is the largest, else of the sum `of`.
 * Returns the exponent: 1 for exp(x - largest), -1 for a quotient by a sum.  RKB_NO_DEGREE: it scales by no power. */
int rkb_row_scaling_of(const rkb_graph_t *graph, uint32_t number, uint32_t of) {
   const rkb_node_t *node = &graph->nodes[number];
   int degrees[RKB_MAX_OPERANDS] = {0};
   if (number == of)
      return graph->nodes[of].operation[0] == 's' ? 1 : RKB_NO_DEGREE;
   if (number < of || !rkb_node_is_light(node) || !rkb_reads(graph, number, of))
      return 0;
   if (rkb_is_operation(node, "exp")) {
      const rkb_node_t *below = &graph->nodes[node->inputs[0]];
      if (!rkb_is_operation(below, "sub") || rkb_reads(graph, below->inputs[0], of))
         return RKB_NO_DEGREE;
      uint32_t base = below->inputs[1];
      while (rkb_node_is_view(&graph->nodes[base]))
         base = graph->nodes[base].inputs[0];
      return base == of ? 1 : RKB_NO_DEGREE;
   }
   for (uint32_t i = 0; i < node->input_count; i++) {
      degrees[i] = rkb_row_scaling_of(graph, node->inputs[i], of);
      if (degrees[i] == RKB_NO_DEGREE)
         return RKB_NO_DEGREE;
   }
   if (rkb_is_operation(node, "mul"))
      return degrees[0] + degrees[1];
   if (rkb_is_operation(node, "div"))
      return degrees[0] - degrees[1];
   if (rkb_is_operation(node, "add") || rkb_is_operation(node, "sub"))
      return degrees[0] == degrees[1] ? degrees[0] : RKB_NO_DEGREE;
   /* Rounding before scaling gives another number than rounding after it. */
   if (rkb_is_operation(node, "convert") && rkb_dtype_holds(node->dtype, graph->nodes[node->inputs[0]].dtype))
      return degrees[0];
   static const char *const linear[] = {"copy", "neg", "mul_scalar", "div_scalar", "divide_by_count"};
   for (uint32_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
      if (rkb_is_operation(node, linear[i]))
         return degrees[0];
   if (rkb_node_is_view(node) || node->kind == RKB_NODE_FLIP ||
       (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value == 0))
      return degrees[0];
   return RKB_NO_DEGREE;
}

/* turned: dims, a bit each, that were flipped on the way to the node.  Values of another rank have other dims. */
static bool vanishes(const rkb_graph_t *graph, uint32_t number, uint32_t hidden, uint64_t turned, uint32_t rank) {
   const rkb_node_t *node = &graph->nodes[number];
   if (!rkb_node_is_light(node) || !node->input_count || (turned && node->rank != rank))
      return false;
   if (rkb_is_operation(node, "exp")) {
      const rkb_node_t *below = &graph->nodes[node->inputs[0]];
      return !turned && rkb_is_operation(below, "sub") && below->inputs[0] == hidden;
   }
   if (rkb_is_operation(node, "mul"))
      return vanishes(graph, node->inputs[0], hidden, turned, rank) || vanishes(graph, node->inputs[1], hidden, turned, rank);
   if (rkb_is_operation(node, "add") || rkb_is_operation(node, "sub"))
      return vanishes(graph, node->inputs[0], hidden, turned, rank) && vanishes(graph, node->inputs[1], hidden, turned, rank);
   static const char *const linear[] = {"copy", "neg", "mul_scalar", "div_scalar", "convert", "div"};
   for (uint32_t i = 0; i < sizeof linear / sizeof linear[0]; i++)
      if (rkb_is_operation(node, linear[i]))
         return vanishes(graph, node->inputs[0], hidden, turned, rank);
   if (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value == 0)
      return vanishes(graph, node->inputs[0], hidden, turned, rank);
   return node->kind == RKB_NODE_FLIP && vanishes(graph, node->inputs[0], hidden, turned ^ node->mask, node->rank);
}

/* Whether a value is 0 wherever another is -infinity. */
bool rkb_vanishes(const rkb_graph_t *graph, uint32_t number, uint32_t hidden) {
   return vanishes(graph, number, hidden, 0, 0);
}

/* The masked scores below an exponential: the first operand of its difference. */
uint32_t rkb_masked_below(const rkb_graph_t *graph, uint32_t number, bool *seen) {
   const rkb_node_t *node = &graph->nodes[number];
   if (seen[number] || !rkb_node_is_light(node))
      return RKB_NO_NODE;
   seen[number] = true;
   if (rkb_is_operation(node, "exp") && rkb_is_operation(&graph->nodes[node->inputs[0]], "sub"))
      return graph->nodes[node->inputs[0]].inputs[0];
   for (uint32_t i = 0; i < node->input_count; i++) {
      const uint32_t found = rkb_masked_below(graph, node->inputs[i], seen);
      if (found != RKB_NO_NODE)
         return found;
   }
   return RKB_NO_NODE;
}
