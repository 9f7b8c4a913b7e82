/* Losses.  Constant tables. */
#include "task/functions.h"

#include "task/operations/elementwise.h"
#include "task/operations/gather.h"
#include "task/operations/layout.h"
#include "task/operations/reduce.h"

static uint32_t reduced(const rkb_call_t *call, uint32_t each) {
   rkb_program_t *program = call->program;
   uint64_t all = (UINT64_C(1) << rkb_program_shape(program, each)->rank) - 1;
   if (rkb_call_word(call, "reduction", "none"))
      return each;
   return rkb_make_reduce(program, rkb_call_word(call, "reduction", "sum") ? "sum" : "mean", each, all,
                          false);
}

/* -log p of the target class: x is [N, C, ...] (or [C]), the target without the class dim. */
static uint32_t picked(const rkb_call_t *call, uint32_t log_shares) {
   rkb_program_t *program = call->program;
   const rkb_shape_t *shape = rkb_program_shape(program, log_shares);
   uint32_t target = call->inputs[1], dim = shape->rank > 1 ? 1 : 0;
   rkb_shape_t kept = *rkb_program_shape(program, target), with_class = {.rank = kept.rank + 1};
   if (program->failed)
      return RKB_NO_VALUE;
   if (kept.rank + 1 != shape->rank || rkb_program_dtype(program, target) < RKB_I32)
      return rkb_program_fail(program, "%s takes integer targets of the shape of x without its class dim",
                              call->function->name);
   for (uint32_t d = 0, from = 0; d < with_class.rank; d++)
      with_class.size[d] = d == dim ? 1 : kept.size[from++];
   uint32_t chosen =
      rkb_make_gather(program, log_shares, rkb_make_reshape(program, target, &with_class), dim);
   return rkb_make_unary(program, "neg", rkb_make_reshape(program, chosen, &kept));
}

static void build_cross_entropy(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   const rkb_shape_t *shape = rkb_program_shape(program, call->inputs[0]);
   if (shape->rank == 0) {
      rkb_program_fail(program, "cross_entropy needs a class dim");
      return;
   }
   uint32_t dim = shape->rank > 1 ? 1 : 0;
   uint32_t log_shares = rkb_make_softmax(program, "log_softmax", call->inputs[0], dim);
   uint32_t each = picked(call, log_shares);
   double smoothing = rkb_call_real(call, "label_smoothing");
   if (smoothing != 0) {
      uint32_t even = rkb_make_unary(program, "neg",
                                     rkb_make_reduce(program, "mean", log_shares, UINT64_C(1) << dim, false));
      each = rkb_make_binary(program, "add", rkb_make_scalar(program, "mul_scalar", each, 1 - smoothing),
                             rkb_make_scalar(program, "mul_scalar", even, smoothing));
   }
   outputs[0] = reduced(call, each);
}

static void build_nll(const rkb_call_t *call, uint32_t *outputs) {
   outputs[0] = reduced(call, picked(call, call->inputs[0]));
}

static void build_difference(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t difference = rkb_make_binary(program, "sub", call->inputs[0], call->inputs[1]);
   bool square = call->function->operation[0] == 's';
   outputs[0] = reduced(call, square ? rkb_make_binary(program, "mul", difference, difference)
                                     : rkb_make_unary(program, "abs", difference));
}

#define REDUCTION                                                                                            \
   { "reduction", RKB_ATTRIBUTE_WORD, "mean", "mean sum none" }

const rkb_function_t rkb_functions_loss[] = {
   {"cross_entropy",
    "x, target",
    2,
    2,
    {REDUCTION, {"label_smoothing", RKB_ATTRIBUTE_REAL, "0", NULL}},
    build_cross_entropy,
    NULL},
   {"nll_loss", "log_probabilities, target", 2, 2, {REDUCTION}, build_nll, NULL},
   {"mse_loss", "a, b", 2, 2, {REDUCTION}, build_difference, "square"},
   {"l1_loss", "a, b", 2, 2, {REDUCTION}, build_difference, "absolute"},
   {0},
};
