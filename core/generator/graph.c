/* Reads the reference's programs of all probes into one graph with symbolic sizes.  One thread while the
 * graph is read. */
#include "generator/graph.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "generator/map_text.h"
#include "reference/operation.h"

typedef struct reader {
   rkb_graph_t *graph;
   const rkb_program_t *programs[RKB_PROBES];
   uint32_t *made; /* by the program's value: its node in the graph */
   uint32_t room;
   char why[400]; /* why reading failed; empty: it has not failed */
} reader_t;

static uint32_t fail(reader_t *reader, const char *fmt, ...) RKB_PRINTF(2, 3);
static uint32_t fail(reader_t *reader, const char *fmt, ...) {
   if (reader->why[0])
      return 0;
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(reader->why, sizeof reader->why, fmt, ap);
   va_end(ap);
   return 0;
}

/* Whether a name is a word of C++ or of the generated text, which no value may have as its name. */
static bool is_taken(const rkb_graph_t *graph, const char *name) {
   static const char *const words[] = {
      "auto",    "bool",     "break",    "case",   "char",    "class",  "const",    "continue", "default",
      "delete",  "do",       "double",   "else",   "enum",    "extern", "false",    "float",    "for",
      "goto",    "half",     "if",       "index",  "inline",  "int",    "long",     "new",      "operator",
      "private", "public",   "register", "return", "short",   "signed", "sizeof",   "static",   "struct",
      "switch",  "template", "this",     "true",   "typedef", "union",  "unsigned", "void",     "volatile",
      "while",   "row",      "place",    "pack",   "step",    "exp",    "log",      "sqrt",     "rsqrt",
      "sin",     "cos",      "erf",      "tanh",   "pow",     "abs",    "max",      "min",      "lane",
      "null",    "and",      "or",       "not",    "sigmoid", "silu",   "gelu",     "softplus", "sum",
      "main",    "round",    "floor",    "ceil",   "fmax",    "fmin",   "y0",       "y1",       "j0",
      "j1",      "div",      "larger",   "smaller"};
   for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
      if (strcmp(words[i], name) == 0)
         return true;
   for (uint32_t i = 0; rkb_helper_at(i); i++)
      if (strcmp(rkb_helper_at(i)->name, name) == 0)
         return true;
   for (uint32_t i = 0; i < graph->node_count; i++)
      if (strcmp(graph->nodes[i].name, name) == 0)
         return true;
   for (uint32_t i = 0; i < graph->output_count; i++)
      if (strcmp(graph->outputs[i].tensor, name) == 0)
         return true;
   const rkb_definition_t *definition = graph->sizes.probes[0]->definition;
   for (uint32_t i = 0; i < definition->dim_count; i++)
      if (strcmp(definition->dims[i].name, name) == 0)
         return true;
   for (uint32_t i = 0; i < definition->let_count; i++)
      if (strcmp(definition->lets[i].name, name) == 0)
         return true;
   for (uint32_t i = 0; i < definition->attribute_count; i++)
      if (strcmp(definition->attributes[i].name, name) == 0)
         return true;
   return false;
}

static const char *unused_name(const rkb_graph_t *graph, const char *wanted) {
   char name[49];
   size_t length = 0;
   for (const char *c = wanted; *c && length < 40; c++)
      name[length++] = isalnum((unsigned char)*c) ? *c : '_';
   name[length] = '\0';
   const char *tried =
      rkb_arena_format(graph->arena, "%s%s", isdigit((unsigned char)name[0]) ? "v" : "", name);
   for (uint32_t i = 0; i < graph->output_count; i++)
      if (strcmp(graph->outputs[i].tensor, tried) == 0) /* the tensor keeps its name */
         tried = rkb_arena_format(graph->arena, "%s_value", name);
   for (uint32_t number = 2; is_taken(graph, tried); number++)
      tried = rkb_arena_format(graph->arena, "%s_%u", name, number);
   return tried;
}

static bool same_real(const rkb_real_t *a, const rkb_real_t *b) {
   return a->constant == b->constant && a->value == b->value && a->root_of == b->root_of &&
          (a->text == b->text || (a->text && b->text && strcmp(a->text, b->text) == 0));
}

/* Whether both nodes compute the same value.  A gradient names parts of the forward pass again. */
static bool same_node(const rkb_node_t *a, const rkb_node_t *b) {
   bool same = a->kind == b->kind && a->kind != RKB_NODE_INPUT && strcmp(a->operation, b->operation) == 0 &&
               strcmp(a->operation, "copy") != 0 && a->rank == b->rank && a->dtype == b->dtype &&
               a->input_count == b->input_count && a->integer_count == b->integer_count &&
               a->mask == b->mask && a->count_of == b->count_of && a->correction == b->correction &&
               a->real_count == b->real_count &&
               memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0 &&
               memcmp(a->inputs, b->inputs, a->input_count * sizeof *a->inputs) == 0 &&
               memcmp(a->integers, b->integers, a->integer_count * sizeof *a->integers) == 0;
   for (uint32_t r = 0; same && r < a->real_count; r++)
      same = same_real(&a->reals[r], &b->reals[r]);
   return same;
}

static uint32_t add(reader_t *reader, const rkb_node_t *node) {
   rkb_graph_t *graph = reader->graph;
   for (uint32_t i = 0; i < graph->node_count; i++)
      if (same_node(&graph->nodes[i], node))
         return i;
   if (graph->node_count == RKB_MAX_GRAPH_NODES)
      return fail(reader, "more than %u operations", RKB_MAX_GRAPH_NODES);
   graph->nodes[graph->node_count] = *node;
   graph->nodes[graph->node_count].name = unused_name(graph, node->name);
   return graph->node_count++;
}

static uint32_t size_of(reader_t *reader, uint32_t value, uint32_t dim) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = reader->programs[p]->values[value].shape.size[dim];
   uint32_t size = rkb_sizes_find(&reader->graph->sizes, at);
   return size != UINT32_MAX
             ? size
             : fail(reader, "no expression was found for a size (%lld in one case)", (long long)at[0]);
}

static uint32_t integer_of(reader_t *reader, uint32_t node, uint32_t which) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = reader->programs[p]->nodes[node].integers[which];
   uint32_t size = rkb_sizes_find(&reader->graph->sizes, at);
   return size != UINT32_MAX ? size
                             : fail(reader, "no expression was found for a number of %s (%lld in one case)",
                                    reader->programs[0]->nodes[node].operation->name, (long long)at[0]);
}

/* The node is a step inside one operation.  Only values that the task's graph names have narrow types. */
static void take_shape(rkb_node_t *node, const rkb_node_t *like) {
   node->rank = like->rank;
   memcpy(node->shape, like->shape, sizeof node->shape);
   node->dtype = rkb_dtype_narrow(like->dtype) ? RKB_F32 : like->dtype;
}

/* Composite operations as nodes. */

static bool is_one(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

static uint32_t map_of(reader_t *reader, const char *operation, const char *name, uint32_t a, uint32_t b) {
   const rkb_node_t *nodes = reader->graph->nodes;
   rkb_node_t node = {.kind = RKB_NODE_MAP,
                      .operation = operation,
                      .name = name,
                      .inputs = {a, b},
                      .input_count = b == RKB_NO_NODE ? 1 : 2,
                      .count_of = RKB_NO_NODE};
   take_shape(&node, &nodes[a]);
   for (uint32_t d = 0; b != RKB_NO_NODE && d < node.rank;
        d++) /* of equal rank: the larger size of each dim */
      if (is_one(reader->graph, node.shape[d]))
         node.shape[d] = nodes[b].shape[d];
   return add(reader, &node);
}

static uint32_t reduce_of(reader_t *reader, const char *operation, const char *name, uint32_t x,
                          uint64_t mask) {
   rkb_node_t node = {.kind = RKB_NODE_REDUCE,
                      .operation = operation,
                      .name = name,
                      .inputs = {x},
                      .input_count = 1,
                      .mask = mask,
                      .count_of = RKB_NO_NODE};
   take_shape(&node, &reader->graph->nodes[x]);
   for (uint32_t d = 0; d < node.rank; d++)
      if (mask >> d & 1)
         node.shape[d] = rkb_sizes_constant(&reader->graph->sizes, 1);
   if (strncmp(operation, "arg", 3) == 0)
      node.dtype = RKB_I64;
   return add(reader, &node);
}

/* Whether a value is the same for all terms of a sum over the dims of mask. */
static bool is_factor_of_sum(const rkb_graph_t *graph, uint32_t value, uint32_t rank, uint64_t mask) {
   const rkb_node_t *node = &graph->nodes[value];
   bool same = node->rank == rank && mask;
   for (uint32_t d = 0; d < rank && same; d++)
      same = !(mask >> d & 1) || is_one(graph, node->shape[d]);
   return same;
}

/* A factor that all terms of a sum share can be taken out of the sum, which then need not wait for it.  The
 * result is rounded differently.  So this is done only where results are rounded to 11 bits or fewer, and not
 * where the task's graph names the products. */
static uint32_t sum_of(reader_t *reader, const char *name, uint32_t x, uint64_t mask) {
   const rkb_graph_t *graph = reader->graph;
   const rkb_node_t *term = &graph->nodes[x];
   const bool narrow = strcmp(graph->precision, "bf16") == 0 || strcmp(graph->precision, "fp16") == 0;
   for (uint32_t i = 0; i < 2 && narrow && term->kind == RKB_NODE_MAP &&
                        strcmp(term->operation, "mul") == 0 && term->dtype == RKB_F32;
        i++) {
      const uint32_t rest = term->inputs[1 - i], factor = term->inputs[i], rank = term->rank;
      if (is_factor_of_sum(graph, factor, rank, mask) && graph->nodes[rest].rank == rank &&
          memcmp(graph->nodes[rest].shape, term->shape, rank * sizeof *term->shape) == 0)
         return map_of(reader, "mul", rkb_arena_format(graph->arena, "%s_scaled", name),
                       reduce_of(reader, "sum", name, rest, mask), factor);
   }
   return reduce_of(reader, "sum", name, x, mask);
}

static uint32_t count_of(reader_t *reader, uint32_t x, uint64_t mask) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++) {
      at[p] = 1;
      for (uint32_t d = 0; d < reader->graph->nodes[x].rank; d++)
         if (mask >> d & 1)
            at[p] *= reader->graph->sizes.list[reader->graph->nodes[x].shape[d]].at[p];
   }
   uint32_t size = rkb_sizes_find(&reader->graph->sizes, at);
   return size != UINT32_MAX ? size : fail(reader, "no expression was found for a number of elements");
}

static uint32_t mean_of(reader_t *reader, const char *name, uint32_t x, uint64_t mask, uint32_t correction) {
   const uint32_t count = count_of(reader, x, mask);
   uint32_t sum = reduce_of(reader, "sum", rkb_arena_format(reader->graph->arena, "%s_sum", name), x, mask);
   rkb_node_t mean = {.kind = RKB_NODE_MAP,
                      .operation = "divide_by_count",
                      .name = name,
                      .inputs = {sum},
                      .input_count = 1,
                      .count_of = count,
                      .correction = correction};
   take_shape(&mean, &reader->graph->nodes[sum]);
   return add(reader, &mean);
}

static uint32_t variance_of(reader_t *reader, const char *name, uint32_t x, uint64_t mask,
                            uint32_t correction) {
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t mean = mean_of(reader, rkb_arena_format(arena, "%s_mean", name), x, mask, 0);
   uint32_t away = map_of(reader, "sub", rkb_arena_format(arena, "%s_distance", name), x, mean);
   uint32_t square = map_of(reader, "mul", rkb_arena_format(arena, "%s_square", name), away, away);
   return mean_of(reader, name, square, mask, correction);
}

/* name: softmax, log_softmax or log_sum_exp. */
static uint32_t softmax_of(reader_t *reader, const char *operation, const char *name, uint32_t x,
                           uint64_t mask) {
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t largest = reduce_of(reader, "amax", rkb_arena_format(arena, "%s_largest", name), x, mask);
   uint32_t below = map_of(reader, "sub", rkb_arena_format(arena, "%s_below", name), x, largest);
   uint32_t power = map_of(reader, "exp", rkb_arena_format(arena, "%s_power", name), below, RKB_NO_NODE);
   uint32_t sum = reduce_of(reader, "sum", rkb_arena_format(arena, "%s_sum", name), power, mask);
   if (strcmp(operation, "softmax") == 0)
      return map_of(reader, "div", name, power, sum);
   uint32_t log_sum = map_of(reader, "log", rkb_arena_format(arena, "%s_log_sum", name), sum, RKB_NO_NODE);
   return strcmp(operation, "log_softmax") == 0 ? map_of(reader, "sub", name, below, log_sum)
                                                : map_of(reader, "add", name, largest, log_sum);
}

/* How an operation of the reference becomes nodes. */
static const struct {
   const char *name;
   enum rkb_node_kind kind;
} kinds[] = {{"reshape", RKB_NODE_RESHAPE},
             {"expand", RKB_NODE_EXPAND},
             {"permute", RKB_NODE_PERMUTE},
             {"slice", RKB_NODE_SLICE},
             {"embed", RKB_NODE_EMBED},
             {"cat", RKB_NODE_CAT},
             {"flip", RKB_NODE_FLIP},
             {"triangle", RKB_NODE_TRIANGLE},
             {"arange", RKB_NODE_ARANGE},
             {"gather", RKB_NODE_GATHER},
             {"matmul", RKB_NODE_MATMUL},
             {"convolution", RKB_NODE_CONVOLUTION},
             {"convolution_input", RKB_NODE_CONVOLUTION_INPUT},
             {"convolution_weight", RKB_NODE_CONVOLUTION_WEIGHT},
             {"max_pool", RKB_NODE_POOL},
             {"average_pool", RKB_NODE_POOL},
             {"max_pool_gradient", RKB_NODE_POOL},
             {"average_pool_gradient", RKB_NODE_POOL},
             {"cumulative_sum", RKB_NODE_SCAN},
             {"cumulative_product", RKB_NODE_SCAN},
             {"cumulative_product_gradient", RKB_NODE_SCAN},
             {"recurrence", RKB_NODE_SCAN},
             {"ranked", RKB_NODE_RANK},
             {"ranked_places", RKB_NODE_RANK},
             {"search_sorted", RKB_NODE_SEARCH},
             {"scatter", RKB_NODE_SCATTER},
             {"resample", RKB_NODE_RESAMPLE},
             {"resample_gradient", RKB_NODE_RESAMPLE}};

static uint32_t reshaped(reader_t *reader, const char *name, uint32_t from, uint32_t value) {
   rkb_graph_t *graph = reader->graph;
   const rkb_program_value_t *like = &reader->programs[0]->values[value];
   rkb_node_t node = {.kind = RKB_NODE_RESHAPE,
                      .operation = "reshape",
                      .name = name,
                      .inputs = {from},
                      .input_count = 1,
                      .rank = like->shape.rank,
                      .dtype = like->dtype,
                      .count_of = RKB_NO_NODE};
   for (uint32_t d = 0; d < node.rank; d++)
      node.shape[d] = size_of(reader, value, d);
   if (node.rank == graph->nodes[from].rank &&
       memcmp(node.shape, graph->nodes[from].shape, node.rank * sizeof *node.shape) == 0)
      return from;
   return add(reader, &node);
}

/* The dims of a mask.  A dim of size 1 may be in the mask or not; both mean the same. */
static uint64_t mask_of(reader_t *reader, uint32_t number) {
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
      fail(reader, "the dims of %s differ between cases", first->operation->name);
   return in | ((uint64_t)first->integers[0] & ~out);
}

static uint64_t dim_mask(reader_t *reader, uint32_t number) {
   const int64_t dim = reader->programs[0]->nodes[number].integers[0];
   for (uint32_t p = 1; p < RKB_PROBES; p++)
      if (reader->programs[p]->nodes[number].integers[0] != dim)
         fail(reader, "the dim of %s differs between cases", reader->programs[0]->nodes[number].operation->name);
   return UINT64_C(1) << dim;
}

/* Where a sum runs over places to which one element goes: that element.  RKB_NO_NODE if the value has no such
 * places. */
static uint32_t only_term(const rkb_graph_t *graph, uint32_t x, uint64_t mask) {
   const rkb_node_t *put = &graph->nodes[x];
   if (put->kind != RKB_NODE_PUT || put->input_count != 2 || mask != UINT64_C(1) << graph->sizes.list[put->integers[0]].at[0])
      return RKB_NO_NODE;
   const rkb_node_t *term = &graph->nodes[put->inputs[0]];
   bool same = term->rank == put->rank;
   for (uint32_t d = 0; same && d < put->rank; d++)
      same = mask >> d & 1 ? is_one(graph, term->shape[d]) : term->shape[d] == put->shape[d];
   return same ? put->inputs[0] : RKB_NO_NODE;
}

/* Reads a reduction, which may become several nodes.  The result has the program's shape. */
static uint32_t read_reduction(reader_t *reader, uint32_t number, const char *name) {
   const rkb_program_node_t *from = &reader->programs[0]->nodes[number];
   const char *operation = from->operation->name;
   const uint32_t x = reader->made[from->inputs[0]];
   const uint64_t mask = strstr(operation, "softmax") ? dim_mask(reader, number) : mask_of(reader, number);
   rkb_arena_t *arena = reader->graph->arena;
   uint32_t result = strcmp(operation, "sum") == 0 ? only_term(reader->graph, x, mask) : RKB_NO_NODE;
   if (result != RKB_NO_NODE)
      return reshaped(reader, rkb_arena_format(arena, "%s_flat", name), result, from->output);
   if (strcmp(operation, "mean") == 0)
      result = mean_of(reader, name, x, mask, 0);
   else if (strcmp(operation, "variance") == 0)
      result = variance_of(reader, name, x, mask, (uint32_t)from->integers[2]);
   else if (strstr(operation, "softmax") || strcmp(operation, "log_sum_exp") == 0)
      result = softmax_of(reader, operation, name, x, mask);
   else
      result = strcmp(operation, "sum") == 0 ? sum_of(reader, name, x, mask)
                                             : reduce_of(reader, operation, name, x, mask);
   return reshaped(reader, rkb_arena_format(arena, "%s_flat", name), result, from->output);
}

static bool is_reduction(const char *operation) {
   static const char *const names[] = {"sum",    "mean",     "amax",    "amin",        "argmax",
                                       "argmin", "variance", "softmax", "log_softmax", "log_sum_exp"};
   for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
      if (strcmp(names[i], operation) == 0)
         return true;
   return false;
}

/* Whether an operation's number decides what is computed (which dim, which order), so that the text of a
 * kernel is right for one value only. */
static bool is_fixed(const rkb_node_t *node, uint32_t which) {
   switch (node->kind) {
   case RKB_NODE_PERMUTE: return node->rank != 2; /* the two orders of two dims are one expression */
   case RKB_NODE_SLICE:
   case RKB_NODE_EMBED:
   case RKB_NODE_CAT:
   case RKB_NODE_GATHER:
   case RKB_NODE_SCAN:
   case RKB_NODE_SEARCH:
   case RKB_NODE_SCATTER:
   case RKB_NODE_CONVOLUTION:
   case RKB_NODE_CONVOLUTION_INPUT:
   case RKB_NODE_CONVOLUTION_WEIGHT: return which == 0;
   case RKB_NODE_TRIANGLE: return which == 1;
   case RKB_NODE_MATMUL:
   case RKB_NODE_RANK:
   case RKB_NODE_RESAMPLE: return which <= 1;
   case RKB_NODE_POOL: return which <= 2;
   default: return false;
   }
}

static uint32_t read_node(reader_t *reader, uint32_t number) {
   const rkb_program_t *program = reader->programs[0];
   const rkb_program_node_t *from = &program->nodes[number];
   const rkb_program_value_t *value = &program->values[from->output];
   const char *operation = from->operation->name, *name = *value->name ? value->name : operation;
   /* These change bounds or gradients and not the value. */
   if (strcmp(operation, "allowance") == 0 || strcmp(operation, "detach") == 0)
      return reader->made[from->inputs[0]];
   if (is_reduction(operation))
      return read_reduction(reader, number, name);
   rkb_node_t node = {.operation = operation,
                      .name = name,
                      .rank = value->shape.rank,
                      .dtype = value->dtype,
                      .input_count = from->input_count,
                      .count_of = RKB_NO_NODE};
   for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
      if (strcmp(kinds[i].name, operation) == 0)
         node.kind = kinds[i].kind;
   if (!node.kind && from->operation->point)
      node.kind = RKB_NODE_MAP;
   if (!node.kind)
      return fail(reader, "there is no text for the operation %s yet", operation);
   for (uint32_t d = 0; d < node.rank; d++)
      node.shape[d] = size_of(reader, from->output, d);
   for (uint32_t i = 0; i < from->input_count; i++)
      node.inputs[i] = reader->made[from->inputs[i]];
   if (from->integer_count > 16 || from->real_count > 2)
      return fail(reader, "%s has more numbers than expected", operation);
   node.mask = node.kind == RKB_NODE_FLIP ? mask_of(reader, number) : 0;
   for (uint32_t i = 0; i < from->integer_count && !reader->why[0]; i++) {
      const uint32_t size = integer_of(reader, number, i);
      if (!reader->why[0] && is_fixed(&node, i) && !reader->graph->sizes.list[size].constant)
         return fail(reader, "%s works along other dims, or in another way, in other cases: no text has both", operation);
      node.integers[node.integer_count++] = size;
   }
   for (uint32_t r = 0; r < from->real_count; r++) {
      double at[RKB_PROBES];
      for (uint32_t p = 0; p < RKB_PROBES; p++)
         at[p] = reader->programs[p]->nodes[number].reals[r];
      if (!rkb_sizes_real(&reader->graph->sizes, at, &node.reals[r])) {
         if (r == 0)
            return fail(reader, "no expression was found for a number of %s (%.9g in one case)", operation,
                        at[0]);
         continue; /* the second number is how far a kernel's may differ from the first */
      }
      node.real_count = r + 1;
   }
   /* One element along the dim: each place can tell by itself whether the element goes there. */
   if (node.kind == RKB_NODE_SCATTER &&
       is_one(reader->graph, reader->graph->nodes[node.inputs[1]].shape[reader->graph->sizes.list[node.integers[0]].at[0]]))
      node.kind = RKB_NODE_PUT;
   if (!rkb_node_is_product(&node) || from->input_count < 3)
      return add(reader, &node);
   /* The third operand is added to the sums, stretched to their shape.  It becomes an addition of its own,
    * which the launch of the product takes in. */
   node.input_count = 2;
   const uint32_t addend = reader->made[from->inputs[2]], product = add(reader, &node);
   const uint32_t framed = reshaped(reader, rkb_arena_format(reader->graph->arena, "%s_framed", name), product, from->addend_frame);
   rkb_node_t sum = {.kind = RKB_NODE_MAP, .operation = "add", .name = rkb_arena_format(reader->graph->arena, "%s_added", name),
                     .inputs = {framed, addend}, .input_count = 2, .count_of = RKB_NO_NODE};
   take_shape(&sum, &reader->graph->nodes[framed]);
   return reshaped(reader, rkb_arena_format(reader->graph->arena, "%s_flat", name), add(reader, &sum), from->output);
}

static void read_inputs(reader_t *reader) {
   const rkb_program_t *program = reader->programs[0];
   for (uint32_t v = 0; v < program->value_count; v++) {
      const rkb_program_value_t *value = &program->values[v];
      if (value->node >= 0)
         continue;
      rkb_node_t node = {.kind = RKB_NODE_INPUT,
                         .operation = "input",
                         .name = value->name,
                         .rank = value->shape.rank,
                         .dtype = value->dtype,
                         .count_of = RKB_NO_NODE,
                         .tensor = rkb_arena_text(reader->graph->arena, value->name, strlen(value->name))};
      for (uint32_t d = 0; d < node.rank; d++)
         node.shape[d] = size_of(reader, v, d);
      reader->made[v] = add(reader, &node);
   }
}

/* An output that is also an input, or also another output, gets a node of its own, which copies. */
static void read_outputs(reader_t *reader) {
   const rkb_program_t *program = reader->programs[0];
   rkb_graph_t *graph = reader->graph;
   const rkb_bound_t *bound = graph->sizes.probes[0];
   rkb_output_t *outputs = rkb_arena_array(graph->arena, program->tensor_count + 1, sizeof *outputs);
   uint32_t count = 0;
   for (uint32_t t = 0; t < program->tensor_count; t++) {
      const rkb_tensor_t *tensor = &bound->view.tensors[t];
      if (program->outputs[t] == RKB_NO_VALUE || tensor->role == RKB_IN)
         continue;
      uint32_t node = reader->made[program->outputs[t]];
      bool again = graph->nodes[node].kind == RKB_NODE_INPUT;
      for (uint32_t i = 0; i < count; i++)
         again |= outputs[i].node == node;
      const char *name = rkb_arena_text(graph->arena, tensor->name, strlen(tensor->name));
      if (again)
         node = map_of(reader, "copy", rkb_arena_format(graph->arena, "%s_copy", name), node, RKB_NO_NODE);
      outputs[count++] = (rkb_output_t){name, node, tensor->dtype, tensor->role == RKB_INOUT};
   }
   graph->outputs = outputs;
   graph->output_count = count;
}

/* Refuses operations without a text, where an output needs them. */
static void check_texts(reader_t *reader) {
   const rkb_graph_t *graph = reader->graph;
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t o = 0; o < graph->output_count; o++) {
      const uint32_t dtype = graph->outputs[o].dtype;
      needed[graph->outputs[o].node] = true;
      if (dtype == RKB_E4M3 || dtype == RKB_E5M2)
         fail(reader, "there is no text that rounds %s to %s", graph->outputs[o].tensor, rkb_dtype_name(dtype));
   }
   for (uint32_t n = graph->node_count; n-- > 0;) {
      const rkb_node_t *node = &graph->nodes[n];
      for (uint32_t i = 0; needed[n] && i < node->input_count; i++)
         needed[node->inputs[i]] = true;
      if (!needed[n] || node->kind != RKB_NODE_MAP)
         continue;
      if (strcmp(node->operation, "convert") == 0) {
         if (!rkb_conversion_text(node->dtype))
            fail(reader, "there is no text that rounds %s to %s", node->name, rkb_dtype_name(node->dtype));
      } else if (!rkb_map_text(node->operation, false))
         fail(reader, "there is no text for the operation %s", node->operation);
   }
}

int rkb_graph_open(const rkb_task_t *task, rkb_graph_t **made, rkb_error_t *err) {
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_graph_t *graph = rkb_arena_alloc(arena, sizeof *graph);
   graph->arena = arena;
   int status = rkb_sizes_open(&graph->sizes, arena, task, err);
   if (status != RKB_OK) {
      rkb_arena_free(arena);
      return status;
   }
   reader_t reader = {.graph = graph};
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      reader.programs[p] = graph->sizes.probes[p]->program;
   const rkb_program_t *program = reader.programs[0];
   graph->task = rkb_task_info(task)->name;
   graph->direction = rkb_task_info(task)->direction;
   graph->precision = rkb_task_info(task)->precision;
   graph->nodes = rkb_arena_array(arena, RKB_MAX_GRAPH_NODES, sizeof *graph->nodes);
   reader.made = rkb_arena_array(arena, program->value_count + 1, sizeof *reader.made);
   /* An output's tensor keeps its name, so no value may take that name. */
   graph->outputs = rkb_arena_array(arena, program->tensor_count + 1, sizeof *graph->outputs);
   for (uint32_t t = 0; t < program->tensor_count; t++)
      if (program->outputs[t] != RKB_NO_VALUE && graph->sizes.probes[0]->view.tensors[t].role == RKB_OUT)
         graph->outputs[graph->output_count++].tensor = graph->sizes.probes[0]->view.tensors[t].name;
   read_inputs(&reader);
   for (uint32_t n = 0; n < program->node_count && !reader.why[0]; n++)
      reader.made[program->nodes[n].output] = read_node(&reader, n);
   if (!reader.why[0])
      read_outputs(&reader);
   if (!reader.why[0])
      check_texts(&reader);
   if (reader.why[0]) {
      status =
         rkb_fail(err, RKB_ERR_INVALID, "no kernel can be written for task %s: %s", graph->task, reader.why);
      rkb_graph_close(graph);
      return status;
   }
   *made = graph;
   return RKB_OK;
}

void rkb_graph_close(rkb_graph_t *graph) {
   if (!graph)
      return;
   rkb_sizes_close(&graph->sizes);
   rkb_arena_free(graph->arena);
}
