/* A positive factor of all scores: statistics are computed from the scores without the factor, and the exponents apply it.  One thread.
 *
 * For c > 0, the largest of c x is c times the largest x.  And exp(c x - c largest) is a power of two with the exponent
 * (x - largest) c log2(e): one multiply-add for each score instead of two operations. */
#include "generator/online/online.h"

#include <string.h>
#include "generator/graph/row_scaling.h"
#include "generator/graph/needed_values.h"
#include "generator/online/online_warpgroups.h"

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
            if (!rkb_is_power(graph, n, from, largest))
               return false;
            read = true;
         }
   return read;
}

/* Whether a value is read only by the node `next`, by the statistic, and by exponents, perhaps under views. */
static bool is_read_so(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t value, uint32_t next,
                       uint32_t from, uint32_t largest);

static bool is_read_by_exponents(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t value,
                                 uint32_t next, uint32_t from, uint32_t largest) {
   for (uint32_t n = value + 1; n < graph->node_count; n++)
      for (uint32_t i = 0; i < graph->nodes[n].input_count; i++) {
         if (graph->nodes[n].inputs[i] != value || n == next || n == largest || is_exponent(graph, n, from, largest))
            continue;
         if (!rkb_node_is_view(&graph->nodes[n]) || !is_read_so(graph, launch, n, next, from, largest))
            return false;
      }
   return true;
}

/* The same, and no launch stores it. */
static bool is_read_so(const rkb_graph_t *graph, const rkb_launch_t *launch, uint32_t value, uint32_t next,
                       uint32_t from, uint32_t largest) {
   return !is_stored(graph, launch, value) && is_read_by_exponents(graph, launch, value, next, from, largest);
}

/* Whether a node only hides places by minus infinity, or changes the order of dims. */
static bool only_hides(const rkb_node_t *node) {
   return node->kind == RKB_NODE_FLIP || (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value < 0 &&
                                          node->reals[0].value * 0 != 0);
}

/* The largest of the scores: the launch's own statistic, or the stored one from which the launch makes its share. */
static uint32_t largest_of(const rkb_writer_t *writer, const rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t first = rkb_online_largest(writer, o),
                  share = o->nodes.out_count ? rkb_online_share(graph, &o->nodes) : RKB_NO_NODE;
   if (first != RKB_ONLINE_MANY)
      return o->nodes.reduces[first];
   if (share == RKB_NO_NODE || !rkb_is_operation(&graph->nodes[graph->nodes[share].inputs[0]], "exp"))
      return RKB_NO_NODE;
   const rkb_node_t *below = &graph->nodes[graph->nodes[graph->nodes[share].inputs[0]].inputs[0]];
   if (!rkb_is_operation(below, "sub"))
      return RKB_NO_NODE;
   uint32_t largest = below->inputs[1];
   while (rkb_node_is_view(&graph->nodes[largest]))
      largest = graph->nodes[largest].inputs[0];
   return graph->nodes[largest].kind == RKB_NODE_REDUCE &&
                strcmp(graph->nodes[largest].operation, "amax") == 0
             ? largest
             : RKB_NO_NODE;
}

static bool is_scaled(const rkb_node_t *node) {
   return rkb_is_operation(node, "mul_scalar") && node->reals[0].least > 0;
}

void rkb_online_find_scale(const rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   const uint32_t largest = largest_of(writer, o);
   o->scaled = o->scaled_largest = RKB_NO_NODE;
   if (largest == RKB_NO_NODE)
      return;
   const uint32_t from = graph->nodes[largest].inputs[0];
   const bool several = o->nodes.score_count != 1;
   uint32_t value = from, next = RKB_NO_NODE;
   /* Where there are several kinds of scores, the stored largest score contains the number. */
   if ((!several && is_stored(graph, o->launch, largest)) ||
       !is_read_by_exponents(graph, o->launch, largest, RKB_NO_NODE, from, largest))
      return;
   for (; only_hides(&graph->nodes[value]); value = graph->nodes[value].inputs[0]) {
      if (!is_read_so(graph, o->launch, value, next, from, largest))
         return;
      next = value;
   }
   const rkb_node_t *scaled = &graph->nodes[value];
   if (is_scaled(scaled) && scaled->inputs[0] == o->nodes.scores[0] &&
       is_read_so(graph, o->launch, value, next, from, largest)) {
      o->scaled = value;
      o->scaled_largest = largest;
   }
}

/* Whether a node's value is its operand's value, or that value times a number of the node. */
static bool keeps_factors(const rkb_node_t *node) {
   return node->kind == RKB_NODE_FLIP || rkb_node_is_view(node) || rkb_is_operation(node, "copy") ||
          (node->kind == RKB_NODE_TRIANGLE && node->reals[0].constant && node->reals[0].value == 0);
}

void rkb_online_find_later(const rkb_writer_t *writer, rkb_online_t *o) {
   const rkb_graph_t *graph = writer->graph;
   for (uint32_t i = 0; i < o->nodes.out_count; i++) {
      uint32_t value = graph->nodes[o->nodes.outs[i]].inputs[o->nodes.made_side[i]];
      o->later[i] = RKB_NO_NODE;
      while (keeps_factors(&graph->nodes[value]))
         value = graph->nodes[value].inputs[0];
      bool alone = is_scaled(&graph->nodes[value]) && value != o->scaled;
      for (uint32_t other = 0; other < o->nodes.out_count; other++)
         alone &= other == i ||
                  !rkb_value_needs(
                     graph, graph->nodes[o->nodes.outs[other]].inputs[o->nodes.made_side[other]], value);
      if (alone)
         o->later[i] = value;
   }
}

void rkb_online_pass_scale(rkb_writer_t *writer, const rkb_online_t *o) {
   writer->passed_count = 0;
   if (o->scaled != RKB_NO_NODE)
      writer->passed[writer->passed_count++] = o->scaled;
   for (uint32_t i = 0; i < o->nodes.out_count; i++)
      if (o->later[i] != RKB_NO_NODE)
         writer->passed[writer->passed_count++] = o->later[i];
   writer->scale_part = o->scaled != RKB_NO_NODE && o->nodes.out_count ? "minus_scale_part" : NULL;
   writer->scaled_largest = o->scaled_largest;
}

void rkb_online_pass_none(rkb_writer_t *writer) {
   writer->passed_count = 0;
   writer->scale_part = NULL;
}

void rkb_online_write_scale(rkb_writer_t *writer, const rkb_online_t *o) {
   if (o->scaled == RKB_NO_NODE)
      return;
   const char *scale = rkb_writer_real(writer, &writer->graph->nodes[o->scaled].reals[0]);
   if (rkb_online_is_several(&o->nodes) && o->nodes.out_count)
      rkb_write(writer, "const float minus_scale_part = %s * -0x1p-7f;", scale);
   else
      rkb_write(
         writer,
         "const float in_twos = %s * 1.44269504f; /* 2 to the power of this times a score is e to the scaled score's */",
         scale);
}
