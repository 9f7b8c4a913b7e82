/* The operation of a whole recurrent layer: h, and c of an LSTM, at every step.  Pure functions of what they read. */
#include "reference/operations/recurrent_layer.h"

#include <stdlib.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/operations/product.h"

/* One step of one unit: h and c before become h and c after. */
static void step(const rkb_layer_t *layer, const rkb_layer_functions_t *f, const rkb_layer_gates_t *gates, rkb_point_t *h, rkb_point_t *c) {
   const rkb_point_t *sum = gates->sum;
   if (layer->kind == RKB_LAYER_RNN) {
      *h = f->tanh(f->precision, NULL, &sum[0]);
   } else if (layer->kind == RKB_LAYER_GRU) {
      const rkb_point_t reset = f->sigmoid(f->precision, NULL, &sum[0]), update = f->sigmoid(f->precision, NULL, &sum[1]);
      const rkb_point_t inner = rkb_layer_plus(f, sum[2], rkb_layer_times(f, reset, sum[3])), fresh = f->tanh(f->precision, NULL, &inner);
      *h = rkb_layer_plus(f, rkb_layer_times(f, rkb_layer_one_minus(f, update), fresh), rkb_layer_times(f, update, *h));
   } else {
      const rkb_point_t in = f->sigmoid(f->precision, NULL, &sum[0]), forget = f->sigmoid(f->precision, NULL, &sum[1]),
                        cell = f->tanh(f->precision, NULL, &sum[2]), out = f->sigmoid(f->precision, NULL, &sum[3]);
      *c = rkb_layer_settled(rkb_layer_plus(f, rkb_layer_times(f, forget, *c), rkb_layer_times(f, in, cell)));
      *h = rkb_layer_times(f, out, f->tanh(f->precision, NULL, c));
   }
   *h = rkb_layer_settled(*h);
}

/* The unit of a narrow storage type, because a kernel may store the state in that type and read it back. */
static double stored_unit(const rkb_program_t *program, const rkb_layer_t *layer) {
   const rkb_narrow_t *type = rkb_dtype_narrow(rkb_program_kept_type(program, layer->first[0]));
   return type ? ldexp(1, -type->bits) : 0;
}

static int rows(rkb_reader_t *reader, const rkb_program_node_t *node, const rkb_layer_t *layer, const rkb_layer_weights_t *weights,
                rkb_layer_group_t *group) {
   const rkb_precision_t *precision = rkb_reader_precision(reader);
   const rkb_layer_functions_t functions = rkb_layer_functions(precision);
   const uint64_t hidden = layer->hidden, wide = layer->gates * hidden, width = layer->states * hidden;
   const double stored = stored_unit(rkb_reader_program(reader), layer);
   rkb_block_t state = {0};
   rkb_layer_sums_t from_input = {0}, from_hidden = {0};
   rkb_layer_vectors_t before = {0};
   (void)node;
   int status = rkb_layer_first_states(reader, layer, group, &state);
   if (status == RKB_OK)
      status = rkb_layer_input_sums(reader, layer, weights, group, &from_input);
   if (status == RKB_OK && (!rkb_layer_sums_new(&from_hidden, group->count * wide) || !rkb_layer_vectors_new(&before, group->count, hidden)))
      status = RKB_ERR_NOMEM;
   for (uint64_t t = 0; status == RKB_OK && t < layer->steps; t++) {
      for (uint64_t i = 0; i < group->count * hidden; i++) {
         const rkb_point_t h = rkb_block_get(&state, i / hidden * width + i % hidden);
         rkb_layer_vectors_put(&before, i, h, fmax(weights->product_hidden, t > 0 ? stored : 0));
      }
      rkb_layer_multiply(&weights->hidden, &before, &from_hidden, 0);
      for (uint64_t i = 0; i < group->count * hidden; i++) {
         const uint64_t k = i / hidden, unit = i % hidden, at = k * width + unit, row = k * layer->steps + t;
         const rkb_layer_gates_t gates =
            rkb_layer_gates_at(layer, weights, precision, &from_input, row * wide + unit, &from_hidden, k * wide + unit, unit);
         rkb_point_t h = rkb_block_get(&state, at), c = layer->states > 1 ? rkb_block_get(&state, at + hidden) : (rkb_point_t){0};
         step(layer, &functions, &gates, &h, &c);
         group->spoilt |= h.flags & RKB_POINT_DONT_CARE;
         rkb_block_put(&state, at, h);
         rkb_block_put(&group->out, row * width + unit, h);
         if (layer->states == 1)
            continue;
         rkb_block_put(&state, at + hidden, c);
         rkb_block_put(&group->out, row * width + hidden + unit, c);
      }
   }
   free(before.value);
   free(from_hidden.value);
   free(from_input.value);
   rkb_block_free(&state);
   return status;
}

static int compute(rkb_reader_t *reader, const rkb_program_node_t *node, uint64_t count, const int64_t *index, rkb_block_t *out) {
   const rkb_layer_t layer = rkb_layer_of(rkb_reader_program(reader), node, 0);
   return rkb_layer_compute(reader, node, &layer, rows, count, index, out);
}

static int whole(rkb_reader_t *reader, const rkb_program_node_t *node, rkb_block_t *out) {
   const rkb_layer_t layer = rkb_layer_of(rkb_reader_program(reader), node, 0);
   return rkb_layer_whole(reader, node, &layer, rows, out);
}

/* Counts the products, and about ten operations per gate. */
static double work(const rkb_program_t *program, const rkb_program_node_t *node) {
   const rkb_layer_t layer = rkb_layer_of(program, node, 0);
   return (double)(layer.steps * layer.batch) * (double)(layer.gates * layer.hidden) * (2 * (double)(layer.inputs + layer.hidden) + 10);
}

static double sequential(const rkb_program_t *program, const rkb_program_node_t *node) {
   return work(program, node) / (double)rkb_layer_of(program, node, 0).batch;
}

static const rkb_operation_t recurrent_layer = {.name = "recurrent_layer",
                                                .costly = true,
                                                .random_data = true,
                                                .compute = compute,
                                                .whole = whole,
                                                .gradient = rkb_recurrent_layer_gradient,
                                                .work = work,
                                                .sequential = sequential};

uint32_t rkb_make_recurrent_layer(rkb_program_t *program, uint32_t kind, const uint32_t *inputs, uint32_t count) {
   if (program->failed)
      return RKB_NO_VALUE;
   const uint32_t states = kind == RKB_LAYER_LSTM ? 2 : 1;
   const rkb_shape_t *x = rkb_program_shape(program, inputs[0]), *h = rkb_program_shape(program, inputs[1]);
   for (uint32_t i = 1 + states; i < 3 + states; i++)
      if (!rkb_factors_are_floats(program, inputs[0], inputs[i]))
         return RKB_NO_VALUE;
   const rkb_shape_t shape = {.rank = 3, .size = {x->size[0], x->size[1], states * h->size[1]}};
   const int64_t integers[] = {kind, count > 3 + states};
   return rkb_program_add(program, &recurrent_layer, inputs, count, integers, 2, NULL, 0, rkb_program_dtype(program, inputs[0]), &shape);
}
