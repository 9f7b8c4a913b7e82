/* Reads the reference's programs of all probes into one graph with symbolic sizes.  One thread while the
 * graph is read. */
#include "generator/graph/graph_reader.h"

#include <string.h>
#include "generator/graph/map_text.h"
#include "reference/operation.h"

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
             {"overwrite", RKB_NODE_SCATTER},
             {"resample", RKB_NODE_RESAMPLE},
             {"resample_gradient", RKB_NODE_RESAMPLE}};

bool rkb_node_overwrites(const rkb_node_t *node) {
   return (node->kind == RKB_NODE_SCATTER || node->kind == RKB_NODE_PUT) &&
          strcmp(node->operation, "overwrite") == 0;
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

static uint32_t read_node(rkb_graph_reader_t *reader, uint32_t number) {
   const rkb_program_t *program = reader->programs[0];
   const rkb_program_node_t *from = &program->nodes[number];
   const rkb_program_value_t *value = &program->values[from->output];
   const char *operation = from->operation->name, *name = *value->name ? value->name : operation;
   /* These operations change bounds or gradients and not the value. */
   if (strcmp(operation, "allowance") == 0 || strcmp(operation, "detach") == 0)
      return reader->made[from->inputs[0]];
   if (rkb_graph_is_reduction(operation))
      return rkb_graph_read_reduction(reader, number, name);
   if (rkb_graph_is_layer(operation))
      return rkb_graph_read_layer(reader, number, name);
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
      return rkb_graph_fail(
         reader,
         "the graph stages cannot write the operation %s yet; a kernel of yours or of a language model is judged all the same",
         operation);
   if (rkb_node_overwrites(&node) &&
       !rkb_dtype_is_float(node.dtype)) /* texts of scatters compute in float, which rounds integers */
      return rkb_graph_fail(reader, "there is no text that puts elements of %s at places",
                            rkb_dtype_name(node.dtype));
   for (uint32_t d = 0; d < node.rank; d++)
      node.shape[d] = rkb_graph_size(reader, from->output, d);
   for (uint32_t i = 0; i < from->input_count; i++)
      node.inputs[i] = reader->made[from->inputs[i]];
   if (from->integer_count > 16 || from->real_count > 2)
      return rkb_graph_fail(reader, "%s has more numbers than expected", operation);
   node.mask = node.kind == RKB_NODE_FLIP ? rkb_graph_mask(reader, number) : 0;
   for (uint32_t i = 0; i < from->integer_count && !reader->why[0]; i++) {
      const uint32_t size = rkb_graph_integer(reader, number, i);
      if (!reader->why[0] && is_fixed(&node, i) && !reader->graph->sizes.list[size].constant)
         return rkb_graph_fail(
            reader, "%s works along other dims, or in another way, in other cases: no text has both",
            operation);
      node.integers[node.integer_count++] = size;
   }
   for (uint32_t r = 0; r < from->real_count; r++) {
      double at[RKB_PROBES];
      for (uint32_t p = 0; p < RKB_PROBES; p++)
         at[p] = reader->programs[p]->nodes[number].reals[r];
      if (!rkb_sizes_real(&reader->graph->sizes, at, &node.reals[r])) {
         if (r == 0)
            return rkb_graph_fail(reader, "no expression was found for a number of %s (%.9g in one case)",
                                  operation, at[0]);
         continue; /* the second number says how far a kernel's result may differ from the first number */
      }
      node.real_count = r + 1;
   }
   /* There is one element along the dim, so each place can find out by itself whether the element goes there. */
   if (node.kind == RKB_NODE_SCATTER &&
       rkb_graph_is_one(
          reader->graph,
          reader->graph->nodes[node.inputs[1]].shape[reader->graph->sizes.list[node.integers[0]].at[0]]))
      node.kind = RKB_NODE_PUT;
   const uint32_t scattered = node.kind == RKB_NODE_SCATTER && !rkb_node_overwrites(&node)
                                 ? rkb_graph_scattered_product(reader, &node, name)
                                 : RKB_NO_NODE;
   if (scattered != RKB_NO_NODE)
      return rkb_graph_reshape(reader, rkb_arena_format(reader->graph->arena, "%s_flat", name), scattered,
                               from->output);
   if (!rkb_node_is_product(&node) || from->input_count < 3)
      return rkb_graph_add(reader, &node);
   /* The third operand is added to the sums, stretched to their shape.  It becomes an addition of its own,
    * which the launch of the product takes in. */
   node.input_count = 2;
   const uint32_t addend = reader->made[from->inputs[2]], product = rkb_graph_add(reader, &node);
   const uint32_t framed = rkb_graph_reshape(
      reader, rkb_arena_format(reader->graph->arena, "%s_framed", name), product, from->addend_frame);
   rkb_node_t sum = {.kind = RKB_NODE_MAP, .operation = "add", .name = rkb_arena_format(reader->graph->arena, "%s_added", name),
                     .inputs = {framed, addend}, .input_count = 2, .count_of = RKB_NO_NODE};
   rkb_graph_take_shape(&sum, &reader->graph->nodes[framed]);
   return rkb_graph_reshape(reader, rkb_arena_format(reader->graph->arena, "%s_flat", name),
                            rkb_graph_add(reader, &sum), from->output);
}

static void read_inputs(rkb_graph_reader_t *reader) {
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
         node.shape[d] = rkb_graph_size(reader, v, d);
      reader->made[v] = rkb_graph_add(reader, &node);
   }
}

/* If an output is also an input or another output, it gets a node of its own, which copies the value. */
static void read_outputs(rkb_graph_reader_t *reader) {
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
         node =
            rkb_graph_map(reader, "copy", rkb_arena_format(graph->arena, "%s_copy", name), node, RKB_NO_NODE);
      outputs[count++] = (rkb_output_t){name, node, tensor->dtype, tensor->role == RKB_INOUT};
   }
   graph->outputs = outputs;
   graph->output_count = count;
}

/* Refuses operations without a text, where an output needs them. */
static void check_texts(rkb_graph_reader_t *reader) {
   const rkb_graph_t *graph = reader->graph;
   bool needed[RKB_MAX_GRAPH_NODES] = {0};
   for (uint32_t o = 0; o < graph->output_count; o++)
      needed[graph->outputs[o].node] = true;
   for (uint32_t n = graph->node_count; n-- > 0;) {
      const rkb_node_t *node = &graph->nodes[n];
      for (uint32_t i = 0; needed[n] && i < node->input_count; i++)
         needed[node->inputs[i]] = true;
      if (!needed[n] || node->kind != RKB_NODE_MAP)
         continue;
      if (strcmp(node->operation, "convert") == 0) {
         if (!rkb_conversion_text(node->dtype))
            rkb_graph_fail(reader, "there is no text that rounds %s to %s", node->name,
                           rkb_dtype_name(node->dtype));
      } else if (!rkb_map_text(node->operation, false))
         rkb_graph_fail(reader, "there is no text for the operation %s", node->operation);
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
   rkb_graph_reader_t reader = {.graph = graph};
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
