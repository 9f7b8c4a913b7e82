/* Adds nodes to a graph while it is read: their names, sizes and shapes.  One thread while the graph is read. */
#include "generator/graph/graph_reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "generator/graph/language_words.h"
#include "generator/graph/map_text.h"

uint32_t rkb_graph_fail(rkb_graph_reader_t *reader, const char *fmt, ...) {
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
      "half",     "index", "row",  "place",  "pack",    "step", "exp",     "log",     "sqrt", "rsqrt",
      "sin",      "cos",   "erf",  "tanh",   "pow",     "lane", "null",    "sigmoid", "silu", "gelu",
      "softplus", "sum",   "main", "round",  "floor",   "ceil", "fmax",    "fmin",    "y0",   "y1",
      "j0",       "j1",    "div",  "larger", "smaller", "unit", "sequence"};
   if (rkb_is_language_word(name))
      return true;
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

/* The least number from 2 on with which no node has this name.  A network has hundreds of nodes of one name, so the numbers are not tried one by one. */
static uint32_t unused_number(const rkb_graph_t *graph, const char *name) {
   bool used[RKB_MAX_GRAPH_NODES + 3] = {0}; /* so many nodes cannot use all numbers */
   const size_t length = strlen(name);
   uint32_t number = 2;
   for (uint32_t i = 0; i < graph->node_count; i++) {
      const char *own = graph->nodes[i].name;
      if (strncmp(own, name, length) != 0 || own[length] != '_' || own[length + 1] < '1' ||
          own[length + 1] > '9')
         continue;
      char *end;
      const unsigned long had = strtoul(own + length + 1, &end, 10);
      if (!*end && had < sizeof used)
         used[had] = true;
   }
   while (used[number])
      number++;
   return number;
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
   if (!is_taken(graph, tried))
      return tried;
   uint32_t number = unused_number(graph, name);
   do
      tried = rkb_arena_format(graph->arena, "%s_%u", name, number++);
   while (is_taken(graph, tried));
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

uint32_t rkb_graph_add(rkb_graph_reader_t *reader, const rkb_node_t *node) {
   rkb_graph_t *graph = reader->graph;
   for (uint32_t i = 0; i < graph->node_count; i++)
      if (same_node(&graph->nodes[i], node))
         return i;
   if (graph->node_count == RKB_MAX_GRAPH_NODES)
      return rkb_graph_fail(reader, "more than %u operations", RKB_MAX_GRAPH_NODES);
   graph->nodes[graph->node_count] = *node;
   graph->nodes[graph->node_count].name = unused_name(graph, node->name);
   return graph->node_count++;
}

uint32_t rkb_graph_find_size(rkb_graph_reader_t *reader, const int64_t at[RKB_PROBES], const char *what,
                             const char *of) {
   const uint32_t size = rkb_sizes_find(&reader->graph->sizes, at);
   if (size == UINT32_MAX)
      return rkb_graph_fail(reader, "no expression was found for %s%s (%lld in one case)", what, of,
                            (long long)at[0]);
   return size;
}

uint32_t rkb_graph_size(rkb_graph_reader_t *reader, uint32_t value, uint32_t dim) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = reader->programs[p]->values[value].shape.size[dim];
   return rkb_graph_find_size(reader, at, "a size", "");
}

uint32_t rkb_graph_integer(rkb_graph_reader_t *reader, uint32_t node, uint32_t which) {
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = reader->programs[p]->nodes[node].integers[which];
   return rkb_graph_find_size(reader, at, "a number of ", reader->programs[0]->nodes[node].operation->name);
}

void rkb_graph_take_shape(rkb_node_t *node, const rkb_node_t *like) {
   node->rank = like->rank;
   memcpy(node->shape, like->shape, sizeof node->shape);
   node->dtype = rkb_dtype_narrow(like->dtype) ? RKB_F32 : like->dtype;
}

bool rkb_graph_is_one(const rkb_graph_t *graph, uint32_t size) {
   return graph->sizes.list[size].constant && graph->sizes.list[size].at[0] == 1;
}

uint32_t rkb_graph_map(rkb_graph_reader_t *reader, const char *operation, const char *name, uint32_t a,
                       uint32_t b) {
   const rkb_node_t *nodes = reader->graph->nodes;
   rkb_node_t node = {.kind = RKB_NODE_MAP,
                      .operation = operation,
                      .name = name,
                      .inputs = {a, b},
                      .input_count = b == RKB_NO_NODE ? 1 : 2,
                      .count_of = RKB_NO_NODE};
   rkb_graph_take_shape(&node, &nodes[a]);
   for (uint32_t d = 0; b != RKB_NO_NODE && d < node.rank;
        d++) /* of equal rank: the larger size of each dim */
      if (rkb_graph_is_one(reader->graph, node.shape[d]))
         node.shape[d] = nodes[b].shape[d];
   return rkb_graph_add(reader, &node);
}

uint32_t rkb_graph_reshape(rkb_graph_reader_t *reader, const char *name, uint32_t from, uint32_t value) {
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
      node.shape[d] = rkb_graph_size(reader, value, d);
   if (node.rank == graph->nodes[from].rank &&
       memcmp(node.shape, graph->nodes[from].shape, node.rank * sizeof *node.shape) == 0)
      return from;
   return rkb_graph_add(reader, &node);
}
