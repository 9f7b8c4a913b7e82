/* Activations, expanded into other operations.  Constant tables. */
#include "reference/functions/functions.h"

#include "reference/dtype.h"
#include "reference/operations/elementwise.h"

/* The two constants of selu (Klambauer and others, 'Self-Normalizing Neural Networks', 2017). */
#define SELU_ALPHA 1.6732632423543772848
#define SELU_SCALE 1.0507009873554804934

static void build_softsign(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t size = rkb_make_unary(program, "abs", call->inputs[0]);
   outputs[0] =
      rkb_make_binary(program, "div", call->inputs[0], rkb_make_scalar(program, "add_scalar", size, 1));
}

/* clamp(x + 3, 0, 6) / 6 */
static uint32_t hard_sigmoid(rkb_program_t *program, uint32_t x) {
   uint32_t shifted = rkb_make_scalar(program, "add_scalar", x, 3);
   return rkb_make_scalar(program, "div_scalar", rkb_make_unary_with(program, "clamp", shifted, 0, 6), 6);
}

static void build_hardsigmoid(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = hard_sigmoid(call->program, call->inputs[0]);
}

static void build_hardswish(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] =
      rkb_make_binary(call->program, "mul", call->inputs[0], hard_sigmoid(call->program, call->inputs[0]));
}

static void build_selu(const rkb_call_t *call, uint32_t *outputs) {
   uint32_t y = rkb_make_scalar(call->program, "elu", call->inputs[0], SELU_ALPHA);
   outputs[0] = rkb_make_scalar(call->program, "mul_scalar", y, SELU_SCALE);
}

static void build_mish(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t gate = rkb_make_unary(program, "tanh", rkb_make_unary(program, "softplus", call->inputs[0]));
   outputs[0] = rkb_make_binary(program, "mul", call->inputs[0], gate);
}

static void build_logsigmoid(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t opposite = rkb_make_unary(program, "neg", call->inputs[0]);
   outputs[0] = rkb_make_unary(program, "neg", rkb_make_unary(program, "softplus", opposite));
}

#define ACTIVATION(label)                                                                                    \
   { #label, "x", 1, 1, {{0 } }, build_##label, NULL }

const rkb_function_t rkb_functions_activation[] = {
   ACTIVATION(softsign),
   ACTIVATION(hardsigmoid),
   ACTIVATION(hardswish),
   ACTIVATION(selu),
   ACTIVATION(mish),
   ACTIVATION(logsigmoid),
   {0},
};
