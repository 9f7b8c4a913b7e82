/* The gradient of a recurrent layer.  One operation goes through the steps from the last to the first.  For
 * each step it gives the gradients of the sums that the gates read, and of the states before the step.  The
 * gradients of inputs and weights are matrix products with those.  The operation computes the gates again
 * from the states that the layer gave.  Pure functions of the elements they read. */
#include "reference/operations/recurrent_layer.h"

#include <stdlib.h>
#include "base/memory.h"
#include "reference/operations/layout.h"
#include "reference/operations/product.h"
#include "reference/operations/reduce.h"

/* The width of a row of the result: the gates' gradients; for a GRU also the gradient of the state's part of
 * the new state; then the gradients of h and c before the step. */
static uint64_t gates_of(const rkb_layer_t *layer) {
   return layer->gates + (layer->kind == RKB_LAYER_GRU);
}

static uint64_t width_of(const rkb_layer_t *layer) {
   return (gates_of(layer) + layer->states) * layer->hidden;
}

/* One unit at one step.  In: the gradients of h and c after the step, the states before it, c after it.  Out:
 * the gradients of each sum of the gates, and the part of the states' gradients that does not pass through
 * the gates. */
typedef struct unit {
   rkb_point_t grad_h, grad_c, h, c, c_after;
   rkb_point_t sum[4], direct_h, direct_c;
} unit_t;

static void step_back(const rkb_layer_t *layer, const rkb_layer_functions_t *f, const rkb_layer_gates_t *gates, unit_t *unit) {
   const rkb_precision_t *p = f->precision;
   const rkb_point_t *sum = gates->sum;
   if (layer->kind == RKB_LAYER_RNN) {
      unit->sum[0] = rkb_layer_times(f, unit->grad_h, f->tanh_slope(p, NULL, &sum[0]));
   } else if (layer->kind == RKB_LAYER_GRU) {
      const rkb_point_t reset = f->sigmoid(p, NULL, &sum[0]), update = f->sigmoid(p, NULL, &sum[1]);
      const rkb_point_t inner = rkb_layer_plus(f, sum[2], rkb_layer_times(f, reset, sum[3])), fresh = f->tanh(p, NULL, &inner);
      const rkb_point_t grad_update = rkb_layer_times(f, unit->grad_h, rkb_layer_plus(f, unit->h, rkb_layer_negative(fresh)));
      const rkb_point_t grad_inner = rkb_layer_times(f, rkb_layer_times(f, unit->grad_h, rkb_layer_one_minus(f, update)),
                                                     f->tanh_slope(p, NULL, &inner));
      unit->sum[0] = rkb_layer_times(f, rkb_layer_times(f, grad_inner, sum[3]), f->sigmoid_slope(p, NULL, &sum[0]));
      unit->sum[1] = rkb_layer_times(f, grad_update, f->sigmoid_slope(p, NULL, &sum[1]));
      unit->sum[2] = grad_inner;
      unit->sum[3] = rkb_layer_times(f, grad_inner, reset);
      unit->direct_h = rkb_layer_times(f, unit->grad_h, update);
   } else {
      const rkb_point_t in = f->sigmoid(p, NULL, &sum[0]), forget = f->sigmoid(p, NULL, &sum[1]), cell = f->tanh(p, NULL, &sum[2]),
                        out = f->sigmoid(p, NULL, &sum[3]), shown = f->tanh(p, NULL, &unit->c_after);
      const rkb_point_t through = rkb_layer_times(f, rkb_layer_times(f, unit->grad_h, out), f->tanh_slope(p, NULL, &unit->c_after));
      const rkb_point_t grad_c = rkb_layer_settled(rkb_layer_plus(f, unit->grad_c, through));
      unit->sum[0] = rkb_layer_times(f, rkb_layer_times(f, grad_c, cell), f->sigmoid_slope(p, NULL, &sum[0]));
      unit->sum[1] = rkb_layer_times(f, rkb_layer_times(f, grad_c, unit->c), f->sigmoid_slope(p, NULL, &sum[1]));
      unit->sum[2] = rkb_layer_times(f, rkb_layer_times(f, grad_c, in), f->tanh_slope(p, NULL, &sum[2]));
      unit->sum[3] = rkb_layer_times(f, rkb_layer_times(f, unit->grad_h, shown), f->sigmoid_slope(p, NULL, &sum[3]));
      unit->direct_c = rkb_layer_times(f, grad_c, forget);
   }
   for (uint32_t g = 0; g < 4; g++)
      unit->sum[g] = rkb_layer_settled(unit->sum[g]);
}

/* The data from which the rows of a group are computed. */
typedef struct backward {
   rkb_block_t grad, states, first; /* [count, T, states H] twice, [count, states H] */
   /* [count, states H]: the gradient of the states, from the step after; the part of it that does not pass
    * through the gates. */
   rkb_block_t carried, direct;
   rkb_layer_sums_t from_input, from_hidden, onto_hidden;
   rkb_layer_vectors_t before, gates; /* h before, [count, H]; gradients of the gates, [count, gates H] */
   rkb_layer_matrix_t across;         /* the state's weights, transposed */
} backward_t;

static void backward_free(backward_t *b) {
   rkb_block_free(&b->grad);
   rkb_block_free(&b->states);
   rkb_block_free(&b->first);
   rkb_block_free(&b->carried);
   rkb_block_free(&b->direct);
   free(b->from_input.value);
   free(b->from_hidden.value);
   free(b->onto_hidden.value);
   free(b->before.value);
   free(b->gates.value);
   free(b->across.value);
}

static int backward_read(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, const rkb_layer_weights_t *weights,
                         rkb_layer_group_t *group, backward_t *b) {
   const uint64_t hidden = layer->hidden, wide = layer->gates * hidden, width = layer->states * hidden;
   int status = rkb_layer_read(reader, layer, node->inputs[0], width, group, &b->grad);
   if (status == RKB_OK)
      status = rkb_layer_read(reader, layer, node->inputs[1], width, group, &b->states);
   if (status == RKB_OK)
      status = rkb_layer_first_states(reader, layer, group, &b->first);
   if (status == RKB_OK)
      status = rkb_layer_input_sums(reader, layer, weights, group, &b->from_input);
   if (status == RKB_OK)
      status = rkb_layer_matrix_read(reader, layer->weight_hidden, hidden, wide, true, &b->across);
   if (status != RKB_OK)
      return status;
   if (!rkb_block_new(&b->carried, group->count * width) || !rkb_block_new(&b->direct, group->count * width) ||
       !rkb_layer_sums_new(&b->from_hidden, group->count * wide) || !rkb_layer_sums_new(&b->onto_hidden, group->count * hidden) ||
       !rkb_layer_vectors_new(&b->before, group->count, hidden) || !rkb_layer_vectors_new(&b->gates, group->count, wide))
      return RKB_ERR_NOMEM;
   for (uint64_t i = 0; i < group->count * width; i++)
      rkb_block_put(&b->carried, i, (rkb_point_t){0});
   return RKB_OK;
}

/* The state before step t: of sequence k of the group, place `at` of its row. */
static rkb_point_t state_before(const rkb_layer_t *layer, const backward_t *b, uint64_t k, uint64_t t, uint64_t at) {
   const uint64_t width = layer->states * layer->hidden;
   return t == 0 ? rkb_block_get(&b->first, k * width + at) : rkb_block_get(&b->states, (k * layer->steps + t - 1) * width + at);
}

static void gates_back(const rkb_layer_t *layer, const rkb_layer_weights_t *weights, const rkb_layer_functions_t *f, backward_t *b, uint64_t k,
                       uint64_t t, uint64_t u, rkb_layer_group_t *group) {
   const uint64_t hidden = layer->hidden, wide = layer->gates * hidden, width = layer->states * hidden, row = k * layer->steps + t;
   const rkb_layer_gates_t gates =
      rkb_layer_gates_at(layer, weights, f->precision, &b->from_input, row * wide + u, &b->from_hidden, k * wide + u, u);
   unit_t unit = {.h = state_before(layer, b, k, t, u)};
   unit.grad_h =
      rkb_layer_settled(rkb_layer_plus(f, rkb_block_get(&b->grad, row * width + u), rkb_block_get(&b->carried, k * width + u)));
   if (layer->states > 1) {
      unit.grad_c = rkb_layer_plus(f, rkb_block_get(&b->grad, row * width + hidden + u), rkb_block_get(&b->carried, k * width + hidden + u));
      unit.c = state_before(layer, b, k, t, hidden + u);
      unit.c_after = rkb_block_get(&b->states, row * width + hidden + u);
   }
   step_back(layer, f, &gates, &unit);
   for (uint64_t g = 0; g < gates_of(layer); g++)
      rkb_block_put(&group->out, row * width_of(layer) + g * hidden + u, unit.sum[g]);
   for (uint64_t g = 0; g < layer->gates; g++) { /* the state reaches the third gate of a GRU through its own part */
      const rkb_point_t sum = unit.sum[layer->kind == RKB_LAYER_GRU && g == 2 ? 3 : g];
      rkb_layer_vectors_put(&b->gates, k * wide + g * hidden + u, sum, weights->product_hidden);
   }
   rkb_block_put(&b->direct, k * width + u, unit.direct_h);
   if (layer->states > 1)
      rkb_block_put(&b->direct, k * width + hidden + u, unit.direct_c);
}

/* The gradients of the states before step t, which step t - 1 receives. */
static void states_back(const rkb_layer_t *layer, const rkb_layer_functions_t *f, backward_t *b, uint64_t k, uint64_t t, uint64_t u,
                        rkb_layer_group_t *group) {
   const uint64_t hidden = layer->hidden, width = layer->states * hidden, row = (k * layer->steps + t) * width_of(layer);
   rkb_layer_part_t part = {0};
   rkb_layer_part_add(&part, &b->onto_hidden, k * hidden + u, (double)(layer->gates * hidden));
   rkb_point_t through = rkb_layer_conclude(f->precision, &part);
   if (layer->kind == RKB_LAYER_GRU)
      through = rkb_layer_settled(rkb_layer_plus(f, through, rkb_block_get(&b->direct, k * width + u)));
   rkb_block_put(&b->carried, k * width + u, through);
   rkb_block_put(&group->out, row + gates_of(layer) * hidden + u, through);
   if (layer->states == 1)
      return;
   const rkb_point_t direct = rkb_layer_settled(rkb_block_get(&b->direct, k * width + hidden + u));
   rkb_block_put(&b->carried, k * width + hidden + u, direct);
   rkb_block_put(&group->out, row + (gates_of(layer) + 1) * hidden + u, direct);
}

static int rows(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, const rkb_layer_weights_t *weights,
                rkb_layer_group_t *group) {
   const rkb_layer_functions_t functions = rkb_layer_functions(rkb_reader_precision(reader));
   const uint64_t hidden = layer->hidden, count = group->count * hidden;
   backward_t b = {.grad = {0}};
   const int status = backward_read(reader, node, layer, weights, group, &b);
   for (uint64_t t = layer->steps; status == RKB_OK && t-- > 0;) {
      for (uint64_t i = 0; i < count; i++)
         rkb_layer_vectors_put(&b.before, i, state_before(layer, &b, i / hidden, t, i % hidden), weights->product_hidden);
      rkb_layer_multiply(&weights->hidden, &b.before, &b.from_hidden, 0);
      for (uint64_t i = 0; i < count; i++)
         gates_back(layer, weights, &functions, &b, i / hidden, t, i % hidden, group);
      rkb_layer_multiply(&b.across, &b.gates, &b.onto_hidden, 0);
      for (uint64_t i = 0; i < count; i++)
         states_back(layer, &functions, &b, i / hidden, t, i % hidden, group);
   }
   backward_free(&b);
   return status;
}

#define OPERANDS_BEFORE 2 /* the gradient of the layer's output, and that output; then the layer's operands */

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index, rkb_block_t *out) {
   const rkb_layer_t layer = rkb_layer_of(rkb_reader_program(reader), node, OPERANDS_BEFORE);
   return rkb_layer_compute(reader, node, &layer, rows, count, index, out);
}

static int whole(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out) {
   const rkb_layer_t layer = rkb_layer_of(rkb_reader_program(reader), node, OPERANDS_BEFORE);
   return rkb_layer_whole(reader, node, &layer, rows, out);
}

/* Counts the operations of a kernel that kept the gates: the products with the state's weights, and about
 * twenty operations per gate. */
static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_layer_t layer = rkb_layer_of(program, node, OPERANDS_BEFORE);
   return (double)(layer.steps * layer.batch) * (double)(layer.gates * layer.hidden) * (2 * (double)layer.hidden + 20);
}

static double sequential(const rkb_program_t *program, const rkb_program_node_t *node) {
   return work(program, node) / (double)rkb_layer_of(program, node, OPERANDS_BEFORE).batch;
}

static const rkb_operation_t recurrent_gradient = {.name = "recurrent_gradient",
                                                   .costly = true,
                                                   .random_data = true,
                                                   .compute = compute,
                                                   .whole = whole,
                                                   .work = work,
                                                   .sequential = sequential};

/* Adds the node that goes backwards; one such node serves all operands. */
static uint32_t backward_node(rkb_program_t *program, const rkb_program_node_t *node, const rkb_layer_t *layer, uint32_t grad) {
   for (uint32_t i = program->node_count; i-- > 0;)
      if (program->nodes[i].operation == &recurrent_gradient && program->nodes[i].inputs[0] == grad &&
          program->nodes[i].inputs[1] == node->output)
         return program->nodes[i].output;
   uint32_t inputs[RKB_MAX_OPERANDS] = {grad, node->output};
   for (uint32_t i = 0; i < node->input_count; i++)
      inputs[OPERANDS_BEFORE + i] = node->inputs[i];
   const rkb_shape_t shape = {.rank = 3, .size = {(int64_t)layer->steps, (int64_t)layer->batch, (int64_t)width_of(layer)}};
   return rkb_program_add(program, &recurrent_gradient, inputs, OPERANDS_BEFORE + node->input_count, node->integers, 2, NULL, 0,
                          rkb_program_dtype(program, grad), &shape);
}

/* Columns first .. first + count - 1 of rows [T, B, width], as a matrix [T B, count]. */
static uint32_t columns(rkb_program_t *program, const rkb_layer_t *layer, uint32_t value, uint64_t first, uint64_t count) {
   const rkb_shape_t shape = {.rank = 2, .size = {(int64_t)(layer->steps * layer->batch), (int64_t)count}};
   return rkb_make_reshape(program, rkb_make_slice(program, value, 2, (int64_t)first, (int64_t)count, 1), &shape);
}

/* The gradients of the state's part of the gates, [T B, gates H]. */
static uint32_t of_hidden_part(rkb_program_t *program, const rkb_layer_t *layer, uint32_t back) {
   const uint64_t hidden = layer->hidden;
   if (layer->kind != RKB_LAYER_GRU)
      return columns(program, layer, back, 0, layer->gates * hidden);
   const uint32_t parts[] = {columns(program, layer, back, 0, 2 * hidden), columns(program, layer, back, 3 * hidden, hidden)};
   return rkb_make_cat(program, parts, 2, 1);
}

/* h before each step, [T B, H]. */
static uint32_t states_before(rkb_program_t *program, const rkb_layer_t *layer, uint32_t states) {
   const int64_t steps = (int64_t)layer->steps, batch = (int64_t)layer->batch, hidden = (int64_t)layer->hidden;
   const rkb_shape_t row = {.rank = 3, .size = {1, batch, hidden}}, flat = {.rank = 2, .size = {steps * batch, hidden}};
   const uint32_t own = rkb_make_slice(program, states, 2, 0, hidden, 1);
   const uint32_t parts[] = {rkb_make_reshape(program, layer->first[0], &row), rkb_make_slice(program, own, 0, 0, steps - 1, 1)};
   return rkb_make_reshape(program, rkb_make_cat(program, parts, 2, 0), &flat);
}

/* The gradient of state number `which` before the first step, [B, H]. */
static uint32_t of_first_state(rkb_program_t *program, const rkb_layer_t *layer, uint32_t back, uint32_t which) {
   const rkb_shape_t shape = {.rank = 2, .size = {(int64_t)layer->batch, (int64_t)layer->hidden}};
   const int64_t first = (int64_t)((gates_of(layer) + which) * layer->hidden);
   const uint32_t step = rkb_make_slice(program, back, 0, 0, 1, 1);
   return rkb_make_reshape(program, rkb_make_slice(program, step, 2, first, (int64_t)layer->hidden, 1), &shape);
}

uint32_t rkb_recurrent_layer_gradient(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which, uint32_t grad) {
   const rkb_layer_t layer = rkb_layer_of(program, node, 0);
   const uint32_t states = node->output, back = backward_node(program, node, &layer, grad);
   const uint64_t wide = layer.gates * layer.hidden;
   if (program->failed)
      return RKB_NO_VALUE;
   if (which > 0 && which <= layer.states)
      return of_first_state(program, &layer, back, which - 1);
   if (which == 0) {
      const rkb_shape_t shape = *rkb_program_shape(program, layer.x);
      return rkb_make_reshape(program, rkb_make_matmul(program, columns(program, &layer, back, 0, wide), false, layer.weight_input, false), &shape);
   }
   const bool of_hidden = (which - layer.states) % 2 == 0; /* weight_ih, weight_hh, bias_ih, bias_hh */
   const uint32_t gates = of_hidden ? of_hidden_part(program, &layer, back) : columns(program, &layer, back, 0, wide);
   if (which > layer.states + 2)
      return rkb_make_reduce(program, "sum", gates, 1, false);
   const rkb_shape_t rows_of_x = {.rank = 2, .size = {(int64_t)(layer.steps * layer.batch), (int64_t)layer.inputs}};
   const uint32_t with = of_hidden ? states_before(program, &layer, states) : rkb_make_reshape(program, layer.x, &rows_of_x);
   return rkb_make_matmul(program, gates, true, with, false);
}
