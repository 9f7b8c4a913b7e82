/* Reads recurrent layers into a graph.  Products that do not wait for the step before become matrix products over all steps, which the
 * reference's operation has inside.  One thread while the graph is read. */
#include "generator/graph/graph_reader.h"

#include <string.h>
#include "reference/operation.h"

/* The state of the reader of one operation. */
typedef struct layer {
   rkb_graph_reader_t *reader;
   const char *name;
   uint32_t steps, batch; /* sizes */
} layer_t;

static uint32_t product_of_sizes(const layer_t *layer, uint32_t a, uint32_t b) {
   int64_t at[RKB_PROBES];
   const rkb_size_t *list = layer->reader->graph->sizes.list;
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = list[a].at[p] * list[b].at[p];
   return rkb_graph_find_size(layer->reader, at, "a number of ", "rows");
}

static const char *part_name(const layer_t *layer, const char *part) {
   return rkb_arena_format(layer->reader->graph->arena, "%s_%s", layer->name, part);
}

/* Adds a view of a value, of the value's own type. */
static uint32_t add_view(const layer_t *layer, rkb_node_t node, uint32_t of, const char *part) {
   node.name = part_name(layer, part);
   node.dtype = layer->reader->graph->nodes[of].dtype;
   node.count_of = RKB_NO_NODE;
   node.inputs[0] = of;
   node.input_count = node.input_count ? node.input_count : 1;
   return rkb_graph_add(layer->reader, &node);
}

/* The products of rows [T, B, depth] with weights [width, depth], as [T, B, width]. */
static uint32_t products(const layer_t *layer, uint32_t rows, uint32_t weights, const char *part) {
   rkb_graph_t *graph = layer->reader->graph;
   const uint32_t all = product_of_sizes(layer, layer->steps, layer->batch),
                  depth = graph->nodes[rows].shape[2], width = graph->nodes[weights].shape[0];
   const uint32_t flat = add_view(
      layer, (rkb_node_t){.kind = RKB_NODE_RESHAPE, .operation = "reshape", .rank = 2, .shape = {all, depth}},
      rows, "rows");
   const rkb_node_t matmul = {
      .kind = RKB_NODE_MATMUL,
      .operation = "matmul",
      .name = part_name(layer, part),
      .rank = 2,
      .shape = {all, width},
      .inputs = {flat, weights},
      .input_count = 2,
      .integers = {rkb_sizes_constant(&graph->sizes, 0), rkb_sizes_constant(&graph->sizes, 1)},
      .integer_count = 2,
      .dtype = RKB_F32,
      .count_of = RKB_NO_NODE};
   const uint32_t made = rkb_graph_add(layer->reader, &matmul);
   return add_view(layer,
                   (rkb_node_t){.kind = RKB_NODE_RESHAPE,
                                .operation = "reshape",
                                .rank = 3,
                                .shape = {layer->steps, layer->batch, width}},
                   made, rkb_arena_format(graph->arena, "%s_steps", part));
}

/* A part of a dim from `start` on. */
static uint32_t cut(const layer_t *layer, uint32_t value, uint32_t dim, uint32_t size, const char *part) {
   rkb_graph_t *graph = layer->reader->graph;
   rkb_node_t node = {
      .kind = RKB_NODE_SLICE, .operation = "slice", .rank = graph->nodes[value].rank, .integer_count = 3};
   memcpy(node.shape, graph->nodes[value].shape, sizeof node.shape);
   node.shape[dim] = size;
   node.integers[0] = rkb_sizes_constant(&graph->sizes, dim);
   node.integers[1] = rkb_sizes_constant(&graph->sizes, 0);
   node.integers[2] = rkb_sizes_constant(&graph->sizes, 1);
   return add_view(layer, node, value, part);
}

/* h before each step, [T, B, H], from h before the first one and the states that the layer gave. */
static uint32_t states_before(const layer_t *layer, uint32_t states, uint32_t first) {
   rkb_graph_t *graph = layer->reader->graph;
   const uint32_t one = rkb_sizes_constant(&graph->sizes, 1), hidden = graph->nodes[first].shape[1];
   int64_t at[RKB_PROBES];
   for (uint32_t p = 0; p < RKB_PROBES; p++)
      at[p] = graph->sizes.list[layer->steps].at[p] - 1;
   const uint32_t rest = rkb_graph_find_size(layer->reader, at, "a number of ", "steps");
   if (layer->reader->why[0])
      return 0;
   const uint32_t own = cut(layer, states, 2, hidden, "states"), before = cut(layer, own, 0, rest, "earlier");
   const uint32_t row = add_view(
      layer,
      (rkb_node_t){
         .kind = RKB_NODE_RESHAPE, .operation = "reshape", .rank = 3, .shape = {one, layer->batch, hidden}},
      first, "first");
   rkb_node_t joined = {.kind = RKB_NODE_CAT,
                        .operation = "cat",
                        .rank = 3,
                        .shape = {layer->steps, layer->batch, hidden},
                        .inputs = {row, before},
                        .input_count = 2,
                        .integers = {rkb_sizes_constant(&graph->sizes, 0)},
                        .integer_count = 1,
                        .dtype = RKB_F32,
                        .count_of = RKB_NO_NODE,
                        .name = part_name(layer, "before")};
   return rkb_graph_add(layer->reader, &joined);
}

bool rkb_graph_is_layer(const char *operation) {
   return strcmp(operation, "recurrent_layer") == 0 || strcmp(operation, "recurrent_gradient") == 0;
}

uint32_t rkb_graph_read_layer(rkb_graph_reader_t *reader, uint32_t number, const char *name) {
   const rkb_program_node_t *from = &reader->programs[0]->nodes[number];
   const bool backward = strcmp(from->operation->name, "recurrent_gradient") == 0;
   const uint32_t before = backward ? 2 : 0, states = from->integers[0] == RKB_GRAPH_LSTM ? 2 : 1,
                  weights = before + 1 + states;
   uint32_t inputs[RKB_MAX_OPERANDS];
   for (uint32_t i = 0; i < from->input_count; i++)
      inputs[i] = reader->made[from->inputs[i]];
   rkb_node_t node = {.kind = RKB_NODE_LAYER,
                      .operation = from->operation->name,
                      .name = name,
                      .rank = 3,
                      .dtype = RKB_F32,
                      .count_of = RKB_NO_NODE};
   for (uint32_t d = 0; d < node.rank; d++)
      node.shape[d] = rkb_graph_size(reader, from->output, d);
   for (uint32_t i = 0; i < 2 && !reader->why[0]; i++)
      node.integers[node.integer_count++] = rkb_graph_integer(reader, number, i);
   if (reader->why[0])
      return 0;
   const layer_t layer = {.reader = reader, .name = name, .steps = node.shape[0], .batch = node.shape[1]};
   const uint32_t x = before, first = before + 1;
   if (backward) {
      node.inputs[node.input_count++] = inputs[0];
      node.inputs[node.input_count++] = inputs[1];
   }
   node.inputs[node.input_count++] = products(&layer, inputs[x], inputs[weights], "from_input");
   if (backward && !reader->why[0])
      node.inputs[node.input_count++] =
         products(&layer, states_before(&layer, inputs[1], inputs[first]), inputs[weights + 1], "from_state");
   for (uint32_t i = first; i < from->input_count; i++)
      if (i != weights)
         node.inputs[node.input_count++] = inputs[i];
   return reader->why[0] ? 0 : rkb_graph_add(reader, &node);
}
