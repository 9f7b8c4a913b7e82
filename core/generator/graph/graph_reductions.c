/* Reads reductions into a graph.  Composite ones (mean, variance, softmax, log of a sum of exponentials) become
 * several nodes.  One thread while the graph is read. */
#include "generator/graph/graph_reader.h"

#include <string.h>
#include "reference/operation.h"

static uint32_t reduce_of(rkb_graph_reader_t *reader, const char *operation, const char *name, uint32_t x,
                          uint64_t mask) {
   rkb_node_t node = {.kind = RKB_NODE_REDUCE,
                      .operation = operation,
                      .name = name,
                      .inputs = {x},
                      .input_count = 1,
                      .mask = mask,
                      .count_of = RKB_NO_NODE};
   rkb_graph_take_shape(&node, &reader->graph->nodes[x]);
   for (uint32_t d = 0; d < node.rank; d++)
      if (mask >> d & 1)
         node.shape[d] = rkb_sizes_constant(&reader->graph->sizes, 1);
   if (strncmp(operation, "arg", 3) == 0)
      node.dtype = RKB_I64;
   return rkb_graph_add(reader, &node);
}

/* Whether a value is the same for all terms of a sum over the dims of mask. */
static bool is_factor_of_sum(const rkb_graph_t *graph, uint32_t value, uint32_t rank, uint64_t mask) {
   const rkb_node_t *node = &graph->nodes[value];
   bool same = node->rank == rank && mask;
   for (uint32_t d = 0; d < rank && same; d++)
      same = !(mask >> d & 1) || rkb_graph_is_one(graph, node->shape[d]);
   return same;
}

/* A factor that all terms of a sum share can be taken out of the sum; the sum then need not wait for the factor.
 * The result is rounded differently.  So this is done only where results are rounded to 11 bits or fewer, and
 * not where the task's graph names the products. */
static uint32_t sum_of(rkb_graph_reader_t *reader, const char *name, uint32_t x, uint64_t mask) {
   const rkb_graph_t *graph = reader->graph;
   const rkb_node_t *term = &graph->nodes[x];
   const bool narrow = strcmp(graph->precision, "bf16") == 0 || strcmp(graph->precision, "fp16") == 0;
   for (uint32_t i = 0; i < 2 && narrow && term->kind == RKB_NODE_MAP &&
                        strcmp(term->operation, "mul") == 0 && term->dtype == RKB_F32;
        i++) {
      const uint32_t rest = term->inputs[1 - i], factor = term->inputs[i], rank = term->rank;
      if (is_factor_of_sum(graph, factor, rank, mask) && graph->nodes[rest].rank == rank &&
          memcmp(graph->nodes[rest].shape, term->shape, rank * sizeof *term->shape) == 0)
         return rkb_graph_map(reader, "mul", rkb_arena_format(graph->arena, "%s_scaled", name),
                              reduce_of(reader, "sum", name, rest, mask), factor);
   }
   return reduce_of(reader, "sum", name, x, mask);
}

static uint32_t count_of(rkb_graph_reader_t *reader, uint32_t x, uint64_t mask) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      at[p] = 1;
      for (uint32_t d = 0; d < reader->graph->nodes[x].rank; d++)
         if (mask >> d & 1)
            at[p] *= reader->graph->sizes.list[reader->graph->nodes[x].shape[d]].at[p];
   }
   return rkb_graph_find_size(reader, at, "a number of ", "elements");
}

static uint32_t mean_of(rkb_graph_reader_t *reader, const char *name, uint32_t x, uint64_t mask,
                        uint32_t correction) {
   const uint32_t count = count_of(reader, x, mask);
   uint32_t sum = reduce_of(reader, "sum", rkb_arena_format(reader->graph->arena, "%s_sum", name), x, mask);
   rkb_node_t mean = {.kind = RKB_NODE_MAP,
                      .operation = "divide_by_count",
                      .name = name,
                      .inputs = {sum},
                      .input_count = 1,
                      .count_of = count,
                      .correction = correction};
   rkb_graph_take_shape(&mean, &reader->graph->nodes[sum]);
   return rkb_graph_add(reader, &mean);
}

static uint32_t variance_of(rkb_graph_reader_t *reader, const char *name, uint32_t x, uint64_t mask,
                            uint32_t correction) {
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t mean = mean_of(reader, rkb_arena_format(arena, "%s_mean", name), x, mask, 0);
   uint32_t away = rkb_graph_map(reader, "sub", rkb_arena_format(arena, "%s_distance", name), x, mean);
   uint32_t square = rkb_graph_map(reader, "mul", rkb_arena_format(arena, "%s_square", name), away, away);
   return mean_of(reader, name, square, mask, correction);
}

/* name: softmax, log_softmax or log_sum_exp. */
static uint32_t softmax_of(rkb_graph_reader_t *reader, const char *operation, const char *name, uint32_t x,
                           uint64_t mask) {
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t largest = reduce_of(reader, "amax", rkb_arena_format(arena, "%s_largest", name), x, mask);
   uint32_t below = rkb_graph_map(reader, "sub", rkb_arena_format(arena, "%s_below", name), x, largest);
   uint32_t power =
      rkb_graph_map(reader, "exp", rkb_arena_format(arena, "%s_power", name), below, RKB_NO_NODE);
   uint32_t sum = reduce_of(reader, "sum", rkb_arena_format(arena, "%s_sum", name), power, mask);
   if (strcmp(operation, "softmax") == 0)
      return rkb_graph_map(reader, "div", name, power, sum);
   uint32_t log_sum =
      rkb_graph_map(reader, "log", rkb_arena_format(arena, "%s_log_sum", name), sum, RKB_NO_NODE);
   return strcmp(operation, "log_softmax") == 0 ? rkb_graph_map(reader, "sub", name, below, log_sum)
                                                : rkb_graph_map(reader, "add", name, largest, log_sum);
}

uint64_t rkb_graph_mask(rkb_graph_reader_t *reader, uint32_t number) {
   const rkb_program_node_t *first = &reader->programs[0]->nodes[number];
   uint64_t in = 0, out = 0;
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      const rkb_program_node_t *from = &reader->programs[p]->nodes[number];
      const rkb_shape_t *shape = &reader->programs[p]->values[from->inputs[0]].shape;
      for (uint32_t d = 0; d < shape->rank; d++)
         if (shape->size[d] != 1)
            *((uint64_t)from->integers[0] >> d & 1 ? &in : &out) |= UINT64_C(1) << d;
   }
   if (in & out)
      rkb_graph_fail(reader, "the dims of %s differ between cases", first->operation->name);
   return in | ((uint64_t)first->integers[0] & ~out);
}

static uint64_t dim_mask(rkb_graph_reader_t *reader, uint32_t number) {
   const int64_t dim = reader->programs[0]->nodes[number].integers[0];
   for (uint32_t p = 1; p < RKB_PROBES; p++)
      if (reader->programs[p]->nodes[number].integers[0] != dim)
         rkb_graph_fail(reader, "the dim of %s differs between cases",
                        reader->programs[0]->nodes[number].operation->name);
   return UINT64_C(1) << dim;
}

/* If a sum runs over places of which only one receives an element: that element.  RKB_NO_NODE: the value has no
 * such places. */
static uint32_t only_term(const rkb_graph_t *graph, uint32_t x, uint64_t mask) {
   const rkb_node_t *put = &graph->nodes[x];
   if (put->kind != RKB_NODE_PUT || put->input_count != 2 ||
       mask != UINT64_C(1) << graph->sizes.list[put->integers[0]].at[0])
      return RKB_NO_NODE;
   const rkb_node_t *term = &graph->nodes[put->inputs[0]];
   bool same = term->rank == put->rank;
   for (uint32_t d = 0; same && d < put->rank; d++)
      same = mask >> d & 1 ? rkb_graph_is_one(graph, term->shape[d]) : term->shape[d] == put->shape[d];
   return same ? put->inputs[0] : RKB_NO_NODE;
}

uint32_t rkb_graph_read_reduction(rkb_graph_reader_t *reader, uint32_t number, const char *name) {
   const rkb_program_node_t *from = &reader->programs[0]->nodes[number];
   const char *operation = from->operation->name;
   const uint32_t x = reader->made[from->inputs[0]];
   const uint64_t mask =
      strstr(operation, "softmax") ? dim_mask(reader, number) : rkb_graph_mask(reader, number);
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t result = strcmp(operation, "sum") == 0 ? only_term(reader->graph, x, mask) : RKB_NO_NODE;
   if (result != RKB_NO_NODE)
      return rkb_graph_reshape(reader, rkb_arena_format(arena, "%s_flat", name), result, from->output);
   if (strcmp(operation, "mean") == 0)
      result = mean_of(reader, name, x, mask, 0);
   else if (strcmp(operation, "variance") == 0)
      result = variance_of(reader, name, x, mask, (uint32_t)from->integers[2]);
   else if (strstr(operation, "softmax") || strcmp(operation, "log_sum_exp") == 0)
      result = softmax_of(reader, operation, name, x, mask);
   else
      result = strcmp(operation, "sum") == 0 ? sum_of(reader, name, x, mask)
                                             : reduce_of(reader, operation, name, x, mask);
   return rkb_graph_reshape(reader, rkb_arena_format(arena, "%s_flat", name), result, from->output);
}

bool rkb_graph_is_reduction(const char *operation) {
   static const char *const names[] = {"sum",    "mean",     "amax",    "amin",        "argmax",
                                       "argmin", "variance", "softmax", "log_softmax", "log_sum_exp"};
   for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
      if (strcmp(names[i], operation) == 0)
         return true;
   return false;
}
