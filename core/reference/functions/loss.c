/* Losses.  Constant tables. */
#include "reference/functions/functions.h"

#include "reference/dtype.h"

#include "reference/operations/elementwise.h"
#include "reference/operations/gather.h"
#include "reference/operations/layout.h"
#include "reference/operations/reduce.h"

static uint32_t reduced(const rkb_call_t *call, uint32_t each) {
   rkb_program_t *program = call->program;
   if (rkb_call_word(call, "reduction", "batchmean")) {
      const rkb_shape_t *shape = rkb_program_shape(program, each);
      double batch = shape->rank ? (double)shape->size[0] : 1;
      uint64_t over = (UINT64_C(1) << shape->rank) - 1;
      return rkb_make_scalar(program, "div_scalar", rkb_make_reduce(program, "sum", each, over, false),
                             batch);
   }
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
   if (kept.rank + 1 != shape->rank || rkb_dtype_is_float(rkb_program_dtype(program, target)))
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

/* A constant with the shape of x. */
static uint32_t constant(rkb_program_t *program, double value, uint32_t x) {
   rkb_shape_t one = {0};
   return rkb_make_full(program, &one, value, rkb_program_dtype(program, x));
}

/* Half a square up to `edge`.  Beyond it a straight line with slope 1 (smooth_l1) or `edge` (huber). */
static void build_smooth(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   bool huber = call->function->operation[0] == 'h';
   double edge = rkb_call_real(call, huber ? "delta" : "beta");
   if (!(edge > 0)) {
      rkb_program_fail(program, "%s needs %s above 0", call->function->name, huber ? "delta" : "beta");
      return;
   }
   uint32_t difference = rkb_make_binary(program, "sub", call->inputs[0], call->inputs[1]);
   uint32_t size = rkb_make_unary(program, "abs", difference);
   uint32_t square =
      rkb_make_scalar(program, "mul_scalar", rkb_make_binary(program, "mul", difference, difference), 0.5);
   uint32_t line = rkb_make_scalar(program, "add_scalar", size, -0.5 * edge);
   uint32_t near = huber ? square : rkb_make_scalar(program, "div_scalar", square, edge);
   uint32_t far = huber ? rkb_make_scalar(program, "mul_scalar", line, edge) : line;
   uint32_t inside = rkb_make_scalar(program, "less_scalar", size, edge);
   outputs[0] = reduced(call, rkb_make_where(program, inside, near, far));
}

/* target (log target - x).  At target 0, log 0 is not finite, so the result is don't-care (PyTorch gives 0). */
static void build_kl_div(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t logarithm = rkb_make_unary(program, "log", call->inputs[1]);
   uint32_t difference = rkb_make_binary(program, "sub", logarithm, call->inputs[0]);
   outputs[0] = reduced(call, rkb_make_binary(program, "mul", call->inputs[1], difference));
}

/* log(1 + exp x) - x target */
static void build_binary_cross_entropy(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t product = rkb_make_binary(program, "mul", call->inputs[0], call->inputs[1]);
   uint32_t soft = rkb_make_unary(program, "softplus", call->inputs[0]);
   outputs[0] = reduced(call, rkb_make_binary(program, "sub", soft, product));
}

/* What PyTorch's losses do with a margin: a clamp, whose slope is 1 at 0 and 0 at NaN, and no relu. */
static uint32_t above_zero(rkb_program_t *program, uint32_t x) {
   return rkb_make_unary_with(program, "clamp", x, 0, INFINITY);
}

/* x where the target is 1, max(0, margin - x) where it is -1. */
static void build_hinge(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t rest = rkb_make_scalar(program, "reverse_sub", call->inputs[0], rkb_call_real(call, "margin"));
   uint32_t positive = rkb_make_scalar(program, "greater_scalar", call->inputs[1], 0);
   outputs[0] = reduced(call, rkb_make_where(program, positive, call->inputs[0], above_zero(program, rest)));
}

/* |a - b + eps| over the last dim */
static uint32_t distance(rkb_program_t *program, uint32_t a, uint32_t b, double eps) {
   uint32_t difference = rkb_make_scalar(program, "add_scalar", rkb_make_binary(program, "sub", a, b), eps);
   uint32_t last = rkb_program_shape(program, difference)->rank;
   if (last == 0)
      return rkb_program_fail(program, "triplet_margin_loss needs a last dim");
   return rkb_make_unary(program, "sqrt",
                         rkb_make_reduce(program, "sum",
                                         rkb_make_binary(program, "mul", difference, difference),
                                         UINT64_C(1) << (last - 1), false));
}

static void build_triplet(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   double eps = rkb_call_real(call, "eps");
   uint32_t near = distance(program, call->inputs[0], call->inputs[1], eps),
            far = distance(program, call->inputs[0], call->inputs[2], eps);
   uint32_t gap = rkb_make_scalar(program, "add_scalar", rkb_make_binary(program, "sub", near, far),
                                  rkb_call_real(call, "margin"));
   outputs[0] = reduced(call, above_zero(program, gap));
}

/* a b / max(|a| |b|, eps), over one dim */
static void build_cosine(const rkb_call_t *call, uint32_t *outputs) {
   rkb_program_t *program = call->program;
   uint32_t products[3];
   for (int i = 0; i < 3; i++) {
      /* a a, a b, b b */
      uint32_t product = rkb_make_binary(program, "mul", call->inputs[i == 2], call->inputs[i != 0]);
      uint64_t mask = UINT64_C(1) << rkb_call_dim(call, "dim", product);
      products[i] = rkb_make_reduce(program, "sum", product, mask, false);
   }
   uint32_t lengths =
      rkb_make_unary(program, "sqrt", rkb_make_binary(program, "mul", products[0], products[2]));
   uint32_t guarded =
      rkb_make_binary(program, "maximum", lengths, constant(program, rkb_call_real(call, "eps"), lengths));
   outputs[0] = rkb_make_binary(program, "div", products[1], guarded);
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
   {"smooth_l1_loss",
    "a, b",
    2,
    2,
    {REDUCTION, {"beta", RKB_ATTRIBUTE_REAL, "1", NULL}},
    build_smooth,
    "line"},
   {"huber_loss", "a, b", 2, 2, {REDUCTION, {"delta", RKB_ATTRIBUTE_REAL, "1", NULL}}, build_smooth, "huber"},
   {"kl_div",
    "log_probabilities, target",
    2,
    2,
    {{"reduction", RKB_ATTRIBUTE_WORD, "mean", "mean sum none batchmean"}},
    build_kl_div,
    NULL},
   {"binary_cross_entropy_with_logits", "x, target", 2, 2, {REDUCTION}, build_binary_cross_entropy, NULL},
   {"hinge_embedding_loss",
    "x, target",
    2,
    2,
    {REDUCTION, {"margin", RKB_ATTRIBUTE_REAL, "1", NULL}},
    build_hinge,
    NULL},
   {"triplet_margin_loss",
    "anchor, positive, negative",
    3,
    3,
    {REDUCTION, {"margin", RKB_ATTRIBUTE_REAL, "1", NULL}, {"eps", RKB_ATTRIBUTE_REAL, "0.000001", NULL}},
    build_triplet,
    NULL},
   {"cosine_similarity",
    "a, b",
    2,
    2,
    {{"dim", RKB_ATTRIBUTE_INT, "1", NULL}, {"eps", RKB_ATTRIBUTE_REAL, "0.00000001", NULL}},
    build_cosine,
    NULL},
   {0},
};
