/* Recurrent layers, one layer and direction each.  A layer of a few steps is an expansion with a few operations for every step, so that
 * values, bounds and gradients are those of the operations; a longer one is one operation (operations/recurrent_layer.h).  Constant
 * table. */
#include "reference/functions/functions.h"

#include "reference/operations/elementwise.h"
#include "reference/operations/layout.h"
#include "reference/operations/product.h"
#include "reference/operations/recurrent_layer.h"

/* The state of one layer while its steps are built. */
typedef struct layer {
   rkb_program_t *program;
   int64_t steps, batch, hidden;
   uint32_t from_input;  /* [steps, batch, gates * hidden]: what the inputs contribute, biases added */
   /* bias_hidden: RKB_NO_VALUE when from_input includes it, or when there is none. */
   uint32_t weight_hidden, bias_hidden;
} layer_t;

static uint32_t cut(rkb_program_t *program, uint32_t x, int64_t part, int64_t width) {
   return rkb_make_slice(program, x, rkb_program_shape(program, x)->rank - 1, part * width, width, 1);
}

static uint32_t unary(rkb_program_t *program, const char *name, uint32_t x) {
   return rkb_make_unary(program, name, x);
}

static uint32_t times(rkb_program_t *program, uint32_t a, uint32_t b) {
   return rkb_make_binary(program, "mul", a, b);
}

static uint32_t plus(rkb_program_t *program, uint32_t a, uint32_t b) {
   return rkb_make_binary(program, "add", a, b);
}

static bool is_matrix(const rkb_program_t *program, uint32_t value, int64_t rows, int64_t columns) {
   const rkb_shape_t *shape = rkb_program_shape(program, value);
   return shape->rank == 2 && shape->size[0] == rows && shape->size[1] == columns;
}

/* Inputs: x [T, B, I], `states` matrices [B, H], weight_ih [gates H, I], weight_hh [gates H, H], and both biases [gates H] or none. */
static bool begin(const rkb_call_t *call, uint32_t states, int64_t gates, layer_t *layer) {
   rkb_program_t *program = call->program;
   rkb_shape_t x = *rkb_program_shape(program, call->inputs[0]), h = *rkb_program_shape(program, call->inputs[1]);
   uint32_t weight = 1 + states;
   bool biased = call->input_count == weight + 4;
   if (program->failed)
      return false;
   bool fits = x.rank == 3 && h.rank == 2 && x.size[1] == h.size[0] && (biased || call->input_count == weight + 2);
   *layer = (layer_t){.program = program,
                      .steps = x.size[0],
                      .batch = fits ? x.size[1] : 0,
                      .hidden = fits ? h.size[1] : 0,
                      .weight_hidden = call->inputs[weight + 1],
                      .bias_hidden = RKB_NO_VALUE};
   int64_t wide = gates * layer->hidden;
   for (uint32_t i = 1; fits && i < weight; i++)
      fits = is_matrix(program, call->inputs[i], layer->batch, layer->hidden);
   fits = fits && is_matrix(program, call->inputs[weight], wide, x.size[2]) &&
          is_matrix(program, call->inputs[weight + 1], wide, layer->hidden);
   for (uint32_t i = weight + 2; fits && i < call->input_count; i++)
      fits = rkb_program_shape(program, call->inputs[i])->rank == 1 &&
             rkb_program_shape(program, call->inputs[i])->size[0] == wide;
   if (!fits) {
      rkb_program_fail(program, "%s: the shapes of x, states, weights and biases do not fit together",
                       call->function->name);
      return false;
   }
   return true;
}

/* Computes the part of the inputs for all steps, biases added. */
static bool begin_steps(const rkb_call_t *call, uint32_t states, int64_t gates, bool bias_apart, layer_t *layer) {
   rkb_program_t *program = call->program;
   const rkb_shape_t x = *rkb_program_shape(program, call->inputs[0]);
   const uint32_t weight = 1 + states;
   const bool biased = call->input_count == weight + 4;
   const int64_t wide = gates * layer->hidden;
   rkb_shape_t flat = {.rank = 2, .size = {x.size[0] * x.size[1], x.size[2]}};
   rkb_shape_t apart = {.rank = 3, .size = {x.size[0], x.size[1], wide}};
   uint32_t rows = rkb_make_reshape(program, call->inputs[0], &flat);
   uint32_t from = rkb_make_matmul(program, rows, false, call->inputs[weight], true);
   if (biased)
      from = plus(program, from, call->inputs[weight + 2]);
   if (biased && !bias_apart)
      from = plus(program, from, call->inputs[weight + 3]);
   if (biased && bias_apart)
      layer->bias_hidden = call->inputs[weight + 3];
   layer->from_input = rkb_make_reshape(program, from, &apart);
   return !program->failed;
}

/* The part of the inputs at one step: [batch, gates * hidden]. */
static uint32_t input_at(const layer_t *layer, int64_t step, int64_t gates) {
   rkb_shape_t shape = {.rank = 2, .size = {layer->batch, gates * layer->hidden}};
   return rkb_make_reshape(layer->program, rkb_make_slice(layer->program, layer->from_input, 0, step, 1, 1), &shape);
}

static uint32_t hidden_part(const layer_t *layer, uint32_t h) {
   uint32_t product = rkb_make_matmul(layer->program, h, false, layer->weight_hidden, true);
   return layer->bias_hidden == RKB_NO_VALUE ? product : plus(layer->program, product, layer->bias_hidden);
}

/* Gates in PyTorch's order: input, forget, cell, output. */
static void lstm_step(const layer_t *layer, uint32_t from, uint32_t *h, uint32_t *c) {
   rkb_program_t *p = layer->program;
   uint32_t gates = plus(p, from, hidden_part(layer, *h));
   uint32_t in = unary(p, "sigmoid", cut(p, gates, 0, layer->hidden)),
            forget = unary(p, "sigmoid", cut(p, gates, 1, layer->hidden)),
            cell = unary(p, "tanh", cut(p, gates, 2, layer->hidden)),
            out = unary(p, "sigmoid", cut(p, gates, 3, layer->hidden));
   *c = plus(p, times(p, forget, *c), times(p, in, cell));
   *h = times(p, out, unary(p, "tanh", *c));
}

/* Gates in PyTorch's order: reset, update, new; h = (1 - z) n + z h. */
static void gru_step(const layer_t *layer, uint32_t from, uint32_t *h) {
   rkb_program_t *p = layer->program;
   uint32_t own = hidden_part(layer, *h);
   int64_t wide = layer->hidden;
   uint32_t reset = unary(p, "sigmoid", plus(p, cut(p, from, 0, wide), cut(p, own, 0, wide))),
            update = unary(p, "sigmoid", plus(p, cut(p, from, 1, wide), cut(p, own, 1, wide)));
   uint32_t fresh = unary(p, "tanh", plus(p, cut(p, from, 2, wide), times(p, reset, cut(p, own, 2, wide))));
   *h = plus(p, times(p, rkb_make_scalar(p, "reverse_sub", update, 1), fresh), times(p, update, *h));
}

/* Builds the steps of a long layer as one operation. */
static void build_long(const rkb_call_t *call, const layer_t *layer, uint32_t kind, bool reverse, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   const int64_t hidden = layer->hidden;
   const rkb_shape_t last = {.rank = 2, .size = {layer->batch, hidden}};
   uint32_t inputs[RKB_MAX_OPERANDS];
   for (uint32_t i = 0; i < call->input_count; i++)
      inputs[i] = call->inputs[i];
   if (reverse)
      inputs[0] = rkb_make_flip(program, inputs[0], 1);
   const uint32_t all = rkb_make_recurrent_layer(program, kind, inputs, call->input_count);
   const uint32_t end = rkb_make_slice(program, all, 0, layer->steps - 1, 1, 1), states = rkb_make_slice(program, all, 2, 0, hidden, 1);
   outputs[0] = reverse ? rkb_make_flip(program, states, 1) : states;
   for (int64_t k = 0; k <= (kind == RKB_LAYER_LSTM); k++)
      outputs[1 + k] = rkb_make_reshape(program, rkb_make_slice(program, end, 2, k * hidden, hidden, 1), &last);
}

static void build(const rkb_call_t *call, uint32_t kind, uint32_t *outputs) {
   static const int64_t gates_of[] = {[RKB_LAYER_RNN] = 1, [RKB_LAYER_GRU] = 3, [RKB_LAYER_LSTM] = 4};
   rkb_program_t *program = call->program;
   const int64_t gates = gates_of[kind];
   const uint32_t states = kind == RKB_LAYER_LSTM ? 2 : 1;
   const bool reverse = rkb_call_true(call, "reverse");
   layer_t layer;
   if (!begin(call, states, gates, &layer))
      return;
   if (layer.steps >= RKB_LAYER_LEAST_STEPS || (program->whole_layers && layer.steps > 1)) {
      build_long(call, &layer, kind, reverse, outputs);
      return;
   }
   if (!begin_steps(call, states, gates, kind == RKB_LAYER_GRU, &layer))
      return;
   uint32_t h = call->inputs[1], c = kind == RKB_LAYER_LSTM ? call->inputs[2] : RKB_NO_VALUE;
   uint32_t made[RKB_LAYER_LEAST_STEPS];
   rkb_shape_t row = {.rank = 3, .size = {1, layer.batch, layer.hidden}};
   for (int64_t i = 0; i < layer.steps && !program->failed; i++) {
      int64_t step = reverse ? layer.steps - 1 - i : i;
      uint32_t from = input_at(&layer, step, gates);
      if (kind == RKB_LAYER_LSTM)
         lstm_step(&layer, from, &h, &c);
      else if (kind == RKB_LAYER_GRU)
         gru_step(&layer, from, &h);
      else
         h = unary(program, "tanh", plus(program, from, hidden_part(&layer, h)));
      made[step] = rkb_make_reshape(program, h, &row);
   }
   if (program->failed)
      return;
   outputs[0] = layer.steps == 1 ? made[0] : rkb_make_cat(program, made, (uint32_t)layer.steps, 0);
   outputs[1] = h;
   if (kind == RKB_LAYER_LSTM)
      outputs[2] = c;
}

static void build_rnn(const rkb_call_t *call, uint32_t *outputs) {
   build(call, RKB_LAYER_RNN, outputs);
}

static void build_gru(const rkb_call_t *call, uint32_t *outputs) {
   build(call, RKB_LAYER_GRU, outputs);
}

static void build_lstm(const rkb_call_t *call, uint32_t *outputs) {
   build(call, RKB_LAYER_LSTM, outputs);
}

#define REVERSE                                                                                              \
   {                                                                                                         \
      { "reverse", RKB_ATTRIBUTE_BOOL, "false", NULL }                                                       \
   }

const rkb_function_t rkb_functions_recurrent[] = {
   {"rnn_tanh", "x, h, weight_ih, weight_hh, [bias_ih, bias_hh]", 4, 6, REVERSE, build_rnn, NULL},
   {"gru", "x, h, weight_ih, weight_hh, [bias_ih, bias_hh]", 4, 6, REVERSE, build_gru, NULL},
   {"lstm", "x, h, c, weight_ih, weight_hh, [bias_ih, bias_hh]", 5, 7, REVERSE, build_lstm, NULL},
   {0},
};
