/* Kernels of recurrent layers and their gradients.  A block owns a sequence and goes through its steps, as many as the launch is given.
 * It reads its results of the previous step from memory, after a barrier.  One thread writes them. */
#include <string.h>
#include "generator/text/launch_text.h"

typedef struct layer {
   rkb_writer_t *writer;
   const rkb_node_t *node;
   uint32_t number, kind, states, gates, parts; /* parts: how many parts of a row of the gradient belong to gates */
   bool biased, backward;
   uint32_t grad, given, from_input, from_state, first[2], weights, bias_input, bias_hidden; /* nodes */
   const rkb_index_t *hidden, *step, *sequence;
   const char *output;
} layer_t;

static layer_t layer_of(rkb_writer_t *writer, const rkb_launch_t *launch) {
   static const uint32_t gates[] = {[RKB_GRAPH_RNN] = 1, [RKB_GRAPH_GRU] = 3, [RKB_GRAPH_LSTM] = 4};
   const rkb_graph_t *graph = writer->graph;
   layer_t layer = {
      .writer = writer, .number = launch->anchors[0], .node = &graph->nodes[launch->anchors[0]]};
   const uint32_t *inputs = layer.node->inputs;
   layer.kind = (uint32_t)graph->sizes.list[layer.node->integers[0]].at[0];
   layer.biased = graph->sizes.list[layer.node->integers[1]].at[0] != 0;
   layer.backward = strcmp(layer.node->operation, "recurrent_gradient") == 0;
   layer.states = layer.kind == RKB_GRAPH_LSTM ? 2 : 1;
   layer.gates = gates[layer.kind];
   layer.parts = layer.gates + (layer.kind == RKB_GRAPH_GRU);
   if (layer.backward) {
      layer.grad = *inputs++;
      layer.given = *inputs++;
   }
   layer.from_input = *inputs++;
   if (layer.backward)
      layer.from_state = *inputs++;
   for (uint32_t s = 0; s < layer.states; s++)
      layer.first[s] = *inputs++;
   layer.weights = *inputs++;
   if (layer.biased) {
      layer.bias_input = inputs[0];
      layer.bias_hidden = inputs[1];
   }
   layer.hidden = rkb_index_size(&writer->indices, graph->nodes[layer.first[0]].shape[1]);
   if (launch->root_count != 1 || launch->roots[0] != layer.number)
      rkb_writer_fail(writer, "the launch of a recurrent layer writes all of its steps, and nothing else");
   layer.output = writer->targets[layer.number].name;
   return layer;
}

/* Place `place` of part number `part` of a row of H each. */
static const rkb_index_t *part_at(const layer_t *layer, uint32_t part, const rkb_index_t *place) {
   rkb_indices_t *indices = &layer->writer->indices;
   const rkb_index_t *before =
      rkb_index_make(indices, RKB_INDEX_PRODUCT, rkb_index_constant(indices, part), layer->hidden);
   return part ? rkb_index_make(indices, RKB_INDEX_SUM, before, place) : place;
}

/* An element at a step of the layer's row of a value [T, B, width]. */
static const char *read_row(const layer_t *layer, uint32_t node, const rkb_index_t *step, uint32_t part,
                            const rkb_index_t *place) {
   return rkb_write_float(layer->writer, node,
                          (const rkb_index_t *[]){step, layer->sequence, part_at(layer, part, place)})
      .text;
}

static const char *read_bias(const layer_t *layer, uint32_t node, uint32_t part, const rkb_index_t *place) {
   return rkb_write_float(layer->writer, node, (const rkb_index_t *[]){part_at(layer, part, place)}).text;
}

/* The number of an element of the layer's own output, and the text that reads it.  A plain load would be wrong: NVRTC may join it with the
 * load of the states before the first step.  It then reads both through the read-only path, which does not see what the launch writes. */
static const rkb_index_t *own_element(const layer_t *layer, const rkb_index_t *step, uint32_t part,
                                      const rkb_index_t *place) {
   return rkb_index_join(&layer->writer->indices, 3, layer->node->shape,
                         (const rkb_index_t *[]){step, layer->sequence, part_at(layer, part, place)});
}

static const char *read_own(const layer_t *layer, const rkb_index_t *step, uint32_t part,
                            const rkb_index_t *place) {
   const char *where = rkb_writer_index(layer->writer, own_element(layer, step, part, place));
   return rkb_arena_format(layer->writer->arena, "__ldcg(&%s[%s])",
                           rkb_writer_buffer(layer->writer, layer->output, RKB_F32, true), where);
}

static void write_own(const layer_t *layer, uint32_t part, const rkb_index_t *place, const char *value) {
   rkb_write_store(layer->writer, layer->output, RKB_F32, own_element(layer, layer->step, part, place),
                   value);
}

/* Writes the state of a unit before the step: h (which 0) or c.  given: the node from which the states of the steps are read, or the own
 * output. */
static const char *write_before(const layer_t *layer, uint32_t which, const rkb_index_t *unit,
                                const char *wanted) {
   rkb_writer_t *writer = layer->writer;
   const char *name = rkb_writer_name(writer, wanted);
   const rkb_index_t *earlier = rkb_index_make(&writer->indices, RKB_INDEX_DIFFERENCE, layer->step,
                                               rkb_index_constant(&writer->indices, 1));
   rkb_write(writer, "float %s;", name);
   rkb_write_open(writer, true, "if (step == 0)");
   rkb_write(
      writer, "%s = %s;", name,
      rkb_write_float(writer, layer->first[which], (const rkb_index_t *[]){layer->sequence, unit}).text);
   rkb_write_close(writer);
   rkb_write_open(writer, true, "else");
   rkb_write(writer, "%s = %s;", name,
             layer->backward ? read_row(layer, layer->given, earlier, which, unit)
                             : read_own(layer, earlier, which, unit));
   rkb_write_close(writer);
   return name;
}

/* The sums that the gates of a unit read.  own: by gate, the products with the state before the step.  sums: for a GRU's new state, first the
 * part of the input, then that of the state. */
static void write_sums(const layer_t *layer, const rkb_index_t *unit, const char *const *own,
                       const char **sums) {
   rkb_writer_t *writer = layer->writer;
   for (uint32_t g = 0; g < layer->gates; g++) {
      const bool apart = layer->kind == RKB_GRAPH_GRU && g == 2;
      const char *from = read_row(layer, layer->from_input, layer->step, g, unit), *state = own[g];
      if (layer->biased && layer->kind == RKB_GRAPH_GRU) {
         from =
            rkb_arena_format(writer->arena, "(%s + %s)", from, read_bias(layer, layer->bias_input, g, unit));
         state = rkb_arena_format(writer->arena, "(%s + %s)", state,
                                  read_bias(layer, layer->bias_hidden, g, unit));
      } else if (layer->biased) {
         const char *input = read_bias(layer, layer->bias_input, g, unit);
         from = rkb_arena_format(writer->arena, "(%s + %s + %s)", from, input,
                                 read_bias(layer, layer->bias_hidden, g, unit));
      }
      sums[g] = rkb_writer_name(writer, "gate");
      rkb_write(writer, "const float %s = %s;", sums[g],
                apart ? from : rkb_arena_format(writer->arena, "%s + %s", from, state));
      /* The name is in use now. */
      rkb_writer_know_once(writer, rkb_arena_format(writer->arena, "gate %u", g), sums[g]);
      if (!apart)
         continue;
      sums[3] = rkb_writer_name(writer, "reset_part");
      rkb_write(writer, "const float %s = %s;", sums[3], state);
   }
}

/* Declares a number of the innermost block. */
static const char *declare(rkb_writer_t *writer, const char *wanted, const char *text) {
   const char *name = rkb_writer_name(writer, wanted);
   rkb_write(writer, "const float %s = %s;", name, text);
   return name;
}

#define FORMAT(...) rkb_arena_format(writer->arena, __VA_ARGS__)

static void write_states(const layer_t *layer, const rkb_index_t *unit, const char *const *sums) {
   rkb_writer_t *writer = layer->writer;
   if (layer->kind == RKB_GRAPH_RNN) {
      write_own(layer, 0, unit, FORMAT("tanhf(%s)", sums[0]));
   } else if (layer->kind == RKB_GRAPH_GRU) {
      const char *before = write_before(layer, 0, unit, "h_before");
      const char *update = declare(writer, "update_gate", FORMAT("sigmoid(%s)", sums[1]));
      const char *fresh =
         declare(writer, "new_state", FORMAT("tanhf(%s + sigmoid(%s) * %s)", sums[2], sums[0], sums[3]));
      write_own(layer, 0, unit, FORMAT("(1.0f - %s) * %s + %s * %s", update, fresh, update, before));
   } else {
      const char *before = write_before(layer, 1, unit, "c_before");
      const char *cell =
         declare(writer, "cell_state",
                 FORMAT("sigmoid(%s) * %s + sigmoid(%s) * tanhf(%s)", sums[1], before, sums[0], sums[2]));
      write_own(layer, 1, unit, cell);
      write_own(layer, 0, unit, FORMAT("sigmoid(%s) * tanhf(%s)", sums[3], cell));
   }
}

static const rkb_index_t *open_sequence(layer_t *layer) {
   rkb_writer_t *writer = layer->writer;
   rkb_indices_t *indices = &writer->indices;
   const rkb_index_t *steps = rkb_index_size(indices, layer->node->shape[0]),
                     *batch = rkb_index_size(indices, layer->node->shape[1]);
   rkb_write(writer, "const index sequence = blockIdx.x;");
   layer->sequence = rkb_writer_variable(writer, "sequence", batch);
   if (layer->backward)
      rkb_write_open(writer, true, "for (index step = %s - 1; step >= 0; step--)",
                     rkb_writer_uniform(writer, steps));
   else
      rkb_write_open(writer, true, "for (index step = 0; step < %s; step++)",
                     rkb_writer_uniform(writer, steps));
   layer->step = rkb_writer_variable(writer, "step", steps);
   return batch;
}

static rkb_kernel_shape_t shape_of(const layer_t *layer, const rkb_index_t *batch, int64_t threads,
                                   const char *who) {
   rkb_writer_t *writer = layer->writer;
   return (rkb_kernel_shape_t){.grid = rkb_index_manifest(&writer->indices, batch),
                               .threads = threads,
                               .owns = FORMAT("A block owns a sequence of %s and goes through its steps; %s.",
                                              layer->node->name, who)};
}

/* A warp has a unit: its lanes share the sums over the state before. */
static void write_forward(layer_t *layer, int64_t threads, rkb_kernel_shape_t *shape) {
   rkb_writer_t *writer = layer->writer;
   const char *own[4], *sums[4], *hidden = rkb_writer_uniform(writer, layer->hidden);
   rkb_write(writer, "const int lane = threadIdx.x %% 32, warp = threadIdx.x / 32;");
   const rkb_index_t *batch = open_sequence(layer);
   rkb_write_open(writer, true, "for (index unit = warp; unit < %s; unit += %lld)", hidden,
                  (long long)threads / 32);
   const rkb_index_t *unit = rkb_writer_variable(writer, "unit", layer->hidden);
   for (uint32_t g = 0; g < layer->gates; g++)
      rkb_write(writer, "float %s = 0.0f;", own[g] = FORMAT("sum_%u", g));
   rkb_write_open(writer, true, "for (index k = lane; k < %s; k += 32)", hidden);
   const rkb_index_t *k = rkb_writer_variable(writer, "k", layer->hidden);
   const char *before = write_before(layer, 0, k, "before");
   for (uint32_t g = 0; g < layer->gates; g++)
      rkb_write(
         writer, "%s += %s * %s;", own[g], before,
         rkb_write_float(writer, layer->weights, (const rkb_index_t *[]){part_at(layer, g, unit), k}).text);
   rkb_write_close(writer);
   for (uint32_t g = 0; g < layer->gates; g++)
      rkb_write(writer, "%s = row_sum<32>(%s);", own[g], own[g]);
   rkb_write_open(writer, true, "if (lane == 0)");
   write_sums(layer, unit, own, sums);
   write_states(layer, unit, sums);
   rkb_write_close(writer);
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads(); /* the next step reads this one's states */");
   rkb_write_close(writer);
   *shape = shape_of(layer, batch, threads, "a warp has a unit");
}

/* The gradient that the next step gave a unit: part number `part` of the own row, or 0 after the last step. */
static const char *write_carried(const layer_t *layer, uint32_t part, const rkb_index_t *unit,
                                 const char *wanted) {
   rkb_writer_t *writer = layer->writer;
   const char *name = rkb_writer_name(writer, wanted);
   const rkb_index_t *later =
      rkb_index_make(&writer->indices, RKB_INDEX_SUM, layer->step, rkb_index_constant(&writer->indices, 1));
   rkb_write(writer, "float %s = 0.0f;", name);
   rkb_write_open(writer, true, "if (step + 1 < %s)",
                  rkb_writer_uniform(writer, rkb_index_size(&writer->indices, layer->node->shape[0])));
   rkb_write(writer, "%s = %s;", name, read_own(layer, later, part, unit));
   rkb_write_close(writer);
   return name;
}

/* Writes the gradients of a unit's gates, and the part of the states' gradients that does not pass through them. */
static void write_unit_back(const layer_t *layer, const rkb_index_t *unit) {
   rkb_writer_t *writer = layer->writer;
   const char *own[4], *sums[4];
   for (uint32_t g = 0; g < layer->gates; g++)
      own[g] = read_row(layer, layer->from_state, layer->step, g, unit);
   write_sums(layer, unit, own, sums);
   const char *carried = write_carried(layer, layer->parts, unit, "h_carried");
   const char *grad = declare(writer, "h_grad",
                              FORMAT("%s + %s", read_row(layer, layer->grad, layer->step, 0, unit), carried));
   if (layer->kind == RKB_GRAPH_RNN) {
      write_own(layer, 0, unit, FORMAT("%s * tanh_slope(%s)", grad, sums[0]));
   } else if (layer->kind == RKB_GRAPH_GRU) {
      const char *before = write_before(layer, 0, unit, "h_before");
      const char *reset = declare(writer, "reset_gate", FORMAT("sigmoid(%s)", sums[0]));
      const char *update = declare(writer, "update_gate", FORMAT("sigmoid(%s)", sums[1]));
      const char *inner = declare(writer, "inner", FORMAT("%s + %s * %s", sums[2], reset, sums[3]));
      const char *inner_grad =
         declare(writer, "inner_grad", FORMAT("%s * (1.0f - %s) * tanh_slope(%s)", grad, update, inner));
      write_own(layer, 0, unit, FORMAT("%s * %s * sigmoid_slope(%s)", inner_grad, sums[3], sums[0]));
      write_own(layer, 1, unit,
                FORMAT("%s * (%s - tanhf(%s)) * sigmoid_slope(%s)", grad, before, inner, sums[1]));
      write_own(layer, 2, unit, inner_grad);
      write_own(layer, 3, unit, FORMAT("%s * %s", inner_grad, reset));
      write_own(layer, 4, unit, FORMAT("%s * %s", grad, update));
   } else {
      const char *before = write_before(layer, 1, unit, "c_before");
      const char *after = read_row(layer, layer->given, layer->step, 1, unit);
      const char *later = write_carried(layer, 5, unit, "c_carried");
      const char *direct = declare(
         writer, "c_direct", FORMAT("%s + %s", read_row(layer, layer->grad, layer->step, 1, unit), later));
      const char *cell = declare(
         writer, "c_grad", FORMAT("%s + %s * sigmoid(%s) * tanh_slope(%s)", direct, grad, sums[3], after));
      write_own(layer, 0, unit, FORMAT("%s * tanhf(%s) * sigmoid_slope(%s)", cell, sums[2], sums[0]));
      write_own(layer, 1, unit, FORMAT("%s * %s * sigmoid_slope(%s)", cell, before, sums[1]));
      write_own(layer, 2, unit, FORMAT("%s * sigmoid(%s) * tanh_slope(%s)", cell, sums[0], sums[2]));
      write_own(layer, 3, unit, FORMAT("%s * tanhf(%s) * sigmoid_slope(%s)", grad, after, sums[3]));
      write_own(layer, 5, unit, FORMAT("%s * sigmoid(%s)", cell, sums[1]));
   }
}

/* A thread has a unit: first the gradients of its gates, then what the gates of all units give the state before. */
static void write_backward(layer_t *layer, int64_t threads, rkb_kernel_shape_t *shape) {
   rkb_writer_t *writer = layer->writer;
   const char *hidden = rkb_writer_uniform(writer, layer->hidden);
   const rkb_index_t *batch = open_sequence(layer);
   rkb_write_open(writer, true, "for (index unit = threadIdx.x; unit < %s; unit += %lld)", hidden,
                  (long long)threads);
   write_unit_back(layer, rkb_writer_variable(writer, "unit", layer->hidden));
   rkb_write_close(writer);
   rkb_write(writer, "__syncthreads(); /* the gates' gradients are read by all units */");
   rkb_write_open(writer, true, "for (index unit = threadIdx.x; unit < %s; unit += %lld)", hidden,
                  (long long)threads);
   const rkb_index_t *unit = rkb_writer_variable(writer, "unit", layer->hidden);
   rkb_write(writer, "float sum = 0.0f;");
   rkb_write_open(writer, true, "for (index k = 0; k < %s; k++)", hidden);
   const rkb_index_t *k = rkb_writer_variable(writer, "k", layer->hidden);
   for (uint32_t g = 0; g < layer->gates; g++) {
      const uint32_t part = layer->kind == RKB_GRAPH_GRU && g == 2 ? 3 : g;
      const char *weight =
         rkb_write_float(writer, layer->weights, (const rkb_index_t *[]){part_at(layer, g, k), unit}).text;
      rkb_write(writer, "sum += %s * %s;", read_own(layer, layer->step, part, k), weight);
   }
   rkb_write_close(writer);
   if (layer->kind == RKB_GRAPH_GRU)
      rkb_write(writer, "sum += %s;", read_own(layer, layer->step, layer->parts, unit));
   write_own(layer, layer->parts, unit, "sum");
   rkb_write_close(writer);
   rkb_write_close(writer);
   *shape = shape_of(layer, batch, threads, "a thread has a unit");
}

void rkb_write_layer_kernel(rkb_writer_t *writer, const rkb_launch_t *launch, rkb_kernel_shape_t *shape) {
   layer_t layer = layer_of(writer, launch);
   if (writer->failed)
      return;
   (layer.backward ? write_backward : write_forward)(&layer, launch->decisions[RKB_THREADS], shape);
}
