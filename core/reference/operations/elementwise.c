/* Elementwise arithmetic, comparisons and decisions; the smooth functions are in smooth_functions.c.  Pure functions of
 * their points.
 *
 * The two operands of an element may have the same error (x * x), so standard deviations are added, not variances. */
#include "reference/operations/elementwise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/name_table.h"

/* Inlined into the loops over points: a call for each point would cost as much as the arithmetic. */
#define INLINED inline __attribute__((always_inline))

/* Standard deviation of weight_a * a + weight_b * b when their errors may be the same. */
static INLINED double spread(double weight_a, rkb_point_t a, double weight_b, rkb_point_t b) {
   double sigma = fabs(weight_a) * sqrt(a.variance) + fabs(weight_b) * sqrt(b.variance);
   return sigma * sigma;
}

/* An infinity in an operand (a mask) stays infinite and exact, and a NaN stays NaN. */
static INLINED rkb_point_t rounded(const rkb_precision_t *precision, rkb_point_t point, double units,
                                   rkb_point_t a, rkb_point_t b) {
   if (rkb_point_is_nan(a) || rkb_point_is_nan(b))
      return rkb_point_nan();
   if (isinf(point.value) && (isinf(a.value) || isinf(b.value)))
      return (rkb_point_t){point.value, 0, 0, point.flags};
   return rkb_point_rounded(precision, point, units);
}

static INLINED rkb_point_t add_points(const rkb_precision_t *precision, rkb_point_t a, rkb_point_t b) {
   rkb_point_t point = {a.value + b.value, a.hard + b.hard, spread(1, a, 1, b), a.flags | b.flags};
   return rounded(precision, point, 1, a, b);
}

static INLINED bool is_exact_zero(rkb_point_t a) {
   return a.value == 0 && a.hard == 0;
}

/* NaN times an exact zero is NaN if a kernel multiplies, and 0 if it selects.  Here the gradient of an
 * operation that selects is such a product; PyTorch selects in some of these gradients and multiplies in
 * others.  So the product is open: NaN and don't-care.  An open value times NaN is open too, because the
 * kernel that selects has 0 there. */
static INLINED bool is_open(rkb_point_t a) {
   return isnan(a.value) && (a.flags & RKB_POINT_DONT_CARE);
}

static INLINED rkb_point_t multiply_points(const rkb_precision_t *precision, rkb_point_t a, rkb_point_t b) {
   if ((rkb_point_is_nan(a) && (is_exact_zero(b) || is_open(b))) ||
       (rkb_point_is_nan(b) && (is_exact_zero(a) || is_open(a))))
      return (rkb_point_t){NAN, 0, 0, RKB_POINT_DONT_CARE};
   rkb_point_t point = {a.value * b.value, fabs(a.value) * b.hard + a.hard * (fabs(b.value) + b.hard),
                        spread(b.value, a, a.value, b), a.flags | b.flags};
   if (point.value == 0 && point.hard == 0) /* an exact zero, whatever the other factor is */
      point.flags &= ~(uint32_t)RKB_POINT_AMBIGUOUS;
   return rounded(precision, point, 1, a, b);
}

/* The bound covers a / b, and a times an approximate reciprocal (4 ulp) of b.  The result is don't-care if the divisor may be zero or
 * its reciprocal is flushed. */
static rkb_point_t divide_points(const rkb_precision_t *precision, rkb_point_t a, rkb_point_t b) {
   double quotient = a.value / b.value, margin = fabs(b.value) - b.hard;
   rkb_point_t point = {quotient, 0, 0, a.flags | b.flags};
   if (rkb_point_is_nan(a) || rkb_point_is_nan(b))
      return rkb_point_nan();
   if (!(margin > 0) || fabs(b.value) > 0x1p126) {
      point.flags |= RKB_POINT_DONT_CARE;
      return point;
   }
   point.hard = (a.hard + fabs(quotient) * b.hard) / margin;
   point.variance = spread(1 / b.value, a, quotient / b.value, b);
   return rounded(precision, point, 10 * precision->approximate, a, b);
}

static rkb_point_t negated(rkb_point_t a) {
   a.value = -a.value;
   return a;
}

static rkb_point_t point_add(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)reals;
   return add_points(precision, in[0], in[1]);
}

static rkb_point_t point_sub(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)reals;
   return add_points(precision, in[0], negated(in[1]));
}

static rkb_point_t point_mul(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)reals;
   return multiply_points(precision, in[0], in[1]);
}

static rkb_point_t point_div(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)reals;
   return divide_points(precision, in[0], in[1]);
}

static rkb_point_t point_neg(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   return negated(in[0]);
}

/* The value itself; no gradient passes. */
static rkb_point_t point_detach(const rkb_precision_t *precision, const double *reals,
                                const rkb_point_t *in) {
   (void)precision, (void)reals;
   return in[0];
}

/* reals: the number, and how far from it a kernel's fp32 number may lie, whether the kernel received or
 * computed it. */
static rkb_point_t number(const double *reals) {
   return (rkb_point_t){reals[0], reals[1], reals[1] * reals[1] / 3, 0};
}

static rkb_point_t point_add_scalar(const rkb_precision_t *precision, const double *reals,
                                    const rkb_point_t *in) {
   return reals[0] == 0 ? in[0] : add_points(precision, in[0], number(reals));
}

static rkb_point_t point_mul_scalar(const rkb_precision_t *precision, const double *reals,
                                    const rkb_point_t *in) {
   return reals[0] == 1 ? in[0] : multiply_points(precision, in[0], number(reals));
}

static rkb_point_t point_div_scalar(const rkb_precision_t *precision, const double *reals,
                                    const rkb_point_t *in) {
   return reals[0] == 1 ? in[0] : divide_points(precision, in[0], number(reals));
}

static rkb_point_t point_reverse_sub(const rkb_precision_t *precision, const double *reals,
                                     const rkb_point_t *in) {
   return add_points(precision, number(reals), negated(in[0]));
}

static rkb_point_t point_reverse_div(const rkb_precision_t *precision, const double *reals,
                                     const rkb_point_t *in) {
   return divide_points(precision, number(reals), in[0]);
}

/* Decisions.  A decision is undecided when the margin does not exceed the operands' bounds.  With bounds of 0 even a tie is
 * decided. */
static bool undecided(rkb_point_t a, rkb_point_t b) {
   double doubt = a.hard + b.hard;
   return doubt > 0 && fabs(a.value - b.value) <= doubt;
}

/* Takes one of two values.  If the decision is in doubt, the bound covers both values. */
static rkb_point_t decided(double value, double other, bool doubt, uint32_t flags) {
   double gap = doubt ? fabs(value - other) : 0;
   return (rkb_point_t){value, gap, gap * gap, flags | (gap > 0 ? RKB_POINT_AMBIGUOUS : 0)};
}

static rkb_point_t compared(rkb_point_t a, rkb_point_t b, bool holds) {
   return decided(holds, !holds, undecided(a, b), (a.flags | b.flags) & RKB_POINT_DONT_CARE);
}

#define COMPARISON(name, test)                                                                               \
   static rkb_point_t point_##name(const rkb_precision_t *precision, const double *reals,                    \
                                   const rkb_point_t *in) {                                                  \
      (void)precision, (void)reals;                                                                          \
      return compared(in[0], in[1], in[0].value test in[1].value);                                           \
   }                                                                                                         \
   static rkb_point_t point_##name##_scalar(const rkb_precision_t *precision, const double *reals,           \
                                            const rkb_point_t *in) {                                         \
      (void)precision;                                                                                       \
      return compared(in[0], number(reals), in[0].value test reals[0]);                                      \
   }
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(equal, ==)

static rkb_point_t point_share(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   /* For NaN, both operands get the gradient. */
   double value = in[0].value < in[1].value ? 0 : in[0].value == in[1].value ? 0.5 : 1;
   return decided(value, value > 0.5 ? 0 : 1, undecided(in[0], in[1]),
                  (in[0].flags | in[1].flags) & RKB_POINT_DONT_CARE);
}

/* A kernel may find either operand the larger.  The result still lies between the larger of the lower ends and the larger of the
 * upper ends.  The larger of NaN and a number is NaN, as in PyTorch. */
static rkb_point_t larger(rkb_point_t a, rkb_point_t b) {
   if (rkb_point_is_nan(a) || rkb_point_is_nan(b))
      return rkb_point_nan();
   double value = fmax(a.value, b.value);
   double high = fmax(a.value + a.hard, b.value + b.hard), low = fmax(a.value - a.hard, b.value - b.hard);
   bool doubt = undecided(a, b);
   rkb_point_t chosen = a.value >= b.value ? a : b;
   double variance = doubt ? fmax(a.variance, b.variance) : chosen.variance;
   uint32_t flags = ((doubt ? a.flags | b.flags : chosen.flags) & RKB_POINT_AMBIGUOUS) |
                    ((a.flags | b.flags) & RKB_POINT_DONT_CARE);
   return (rkb_point_t){value, isinf(value) ? 0 : fmax(high - value, value - low), variance, flags};
}

static rkb_point_t point_maximum(const rkb_precision_t *precision, const double *reals,
                                 const rkb_point_t *in) {
   (void)precision, (void)reals;
   return larger(in[0], in[1]);
}

static rkb_point_t point_minimum(const rkb_precision_t *precision, const double *reals,
                                 const rkb_point_t *in) {
   (void)precision, (void)reals;
   return negated(larger(negated(in[0]), negated(in[1])));
}

static rkb_point_t point_relu(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   return larger(in[0], (rkb_point_t){0});
}

/* 1 for x > 0, and for NaN; PyTorch gives relu the slope 0 at 0. */
static rkb_point_t point_step(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   return compared(in[0], (rkb_point_t){0}, !(in[0].value <= 0));
}

static rkb_point_t point_abs(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   return in[0].value < 0 ? negated(in[0]) : in[0];
}

static rkb_point_t point_sign(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   double value = (in[0].value > 0) - (in[0].value < 0);
   return decided(value, value > 0 ? -1 : 1, undecided(in[0], (rkb_point_t){0}),
                  in[0].flags & RKB_POINT_DONT_CARE);
}

/* reals: the slope below zero, and the slope's error. */
static rkb_point_t point_leaky_relu(const rkb_precision_t *precision, const double *reals,
                                    const rkb_point_t *in) {
   rkb_point_t below = multiply_points(precision, in[0], number(reals));
   rkb_point_t point = in[0].value > 0 ? in[0] : below;
   if (undecided(in[0], (rkb_point_t){0})) {
      point.hard = fmax(in[0].hard, below.hard) + fabs(in[0].value - below.value);
      point.variance = fmax(in[0].variance, below.variance);
   }
   return point;
}

/* reals: low, high. */
static rkb_point_t point_clamp(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision;
   rkb_point_t above = larger(in[0], (rkb_point_t){reals[0], 0, 0, 0});
   return negated(larger(negated(above), (rkb_point_t){-reals[1], 0, 0, 0}));
}

/* The slope of clamp: 1 inside, including the ends, as in PyTorch. */
static rkb_point_t point_inside(const rkb_precision_t *precision, const double *reals,
                                const rkb_point_t *in) {
   (void)precision;
   rkb_point_t low = {reals[0], 0, 0, 0}, high = {reals[1], 0, 0, 0};
   bool holds = in[0].value >= reals[0] && in[0].value <= reals[1];
   return decided(holds, !holds, undecided(in[0], low) || undecided(in[0], high),
                  in[0].flags & RKB_POINT_DONT_CARE);
}

/* Integers that are not negative; reals[0] says which bits. */
static rkb_point_t point_bitwise_and(const rkb_precision_t *precision, const double *reals,
                                     const rkb_point_t *in) {
   (void)precision;
   return (rkb_point_t){(double)((int64_t)in[0].value & (int64_t)reals[0]), 0, 0, in[0].flags};
}

static rkb_point_t point_bitwise_right_shift(const rkb_precision_t *precision, const double *reals,
                                             const rkb_point_t *in) {
   (void)precision;
   return (rkb_point_t){floor(in[0].value / exp2(reals[0])), 0, 0, in[0].flags};
}

static rkb_point_t point_where(const rkb_precision_t *precision, const double *reals, const rkb_point_t *in) {
   (void)precision, (void)reals;
   rkb_point_t chosen = in[0].value != 0 ? in[1] : in[2], other = in[0].value != 0 ? in[2] : in[1];
   chosen.flags |= in[0].flags;
   if (in[0].flags & RKB_POINT_AMBIGUOUS) {
      double gap = fabs(chosen.value - other.value);
      chosen.hard = fmax(chosen.hard, gap + other.hard);
      chosen.variance = fmax(chosen.variance, other.variance) + gap * gap;
      chosen.flags |= other.flags | (isnan(gap) ? RKB_POINT_DONT_CARE : 0);
   }
   return chosen;
}

RKB_POINTS(add)
RKB_POINTS(sub)
RKB_POINTS(mul)
RKB_POINTS(div)
RKB_POINTS(neg)
RKB_POINTS(add_scalar)
RKB_POINTS(mul_scalar)
RKB_POINTS(div_scalar)
RKB_POINTS(reverse_sub)
RKB_POINTS(reverse_div)
RKB_POINTS(share)
RKB_POINTS(maximum)
RKB_POINTS(minimum)
RKB_POINTS(relu)
RKB_POINTS(step)
RKB_POINTS(abs)
RKB_POINTS(sign)
RKB_POINTS(leaky_relu)
RKB_POINTS(clamp)
RKB_POINTS(inside)
RKB_POINTS(where)
RKB_POINTS(bitwise_and)
RKB_POINTS(bitwise_right_shift)
RKB_POINTS(detach)
RKB_POINTS(greater)
RKB_POINTS(greater_scalar)
RKB_POINTS(greater_equal)
RKB_POINTS(greater_equal_scalar)
RKB_POINTS(less)
RKB_POINTS(less_scalar)
RKB_POINTS(less_equal)
RKB_POINTS(less_equal_scalar)
RKB_POINTS(equal)
RKB_POINTS(equal_scalar)

/* Gradients */

static uint32_t to_operand(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                           uint32_t grad) {
   return rkb_make_sum_to(program, grad, rkb_program_shape(program, node->inputs[which]));
}

static uint32_t gradient_add(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   return to_operand(program, node, which, grad);
}

static uint32_t gradient_sub(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   uint32_t summed = to_operand(program, node, which, grad);
   return which == 1 ? rkb_make_unary(program, "neg", summed) : summed;
}

static uint32_t gradient_mul(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   uint32_t product = rkb_make_binary(program, "mul", grad, node->inputs[1 - which]);
   return rkb_make_sum_to(program, product, rkb_program_shape(program, node->inputs[which]));
}

static uint32_t gradient_div(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   uint32_t shared = rkb_make_binary(program, "div", grad, node->inputs[1]);
   if (which == 1) /* -grad * (a / b) / b */
      shared = rkb_make_unary(program, "neg", rkb_make_binary(program, "mul", shared, node->output));
   return rkb_make_sum_to(program, shared, rkb_program_shape(program, node->inputs[which]));
}

static uint32_t gradient_neg(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)node, (void)which;
   return rkb_make_unary(program, "neg", grad);
}

static uint32_t gradient_pass(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                              uint32_t grad) {
   (void)program, (void)node, (void)which;
   return grad;
}

static uint32_t gradient_mul_scalar(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                    uint32_t grad) {
   (void)which;
   return rkb_make_scalar(program, "mul_scalar", grad, node->reals[0]);
}

static uint32_t gradient_div_scalar(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                    uint32_t grad) {
   (void)which;
   return rkb_make_scalar(program, "div_scalar", grad, node->reals[0]);
}

static uint32_t gradient_reverse_div(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                     uint32_t grad) {
   (void)which; /* -grad * (s / x) / x */
   uint32_t product = rkb_make_binary(program, "mul", grad, node->output);
   return rkb_make_unary(program, "neg", rkb_make_binary(program, "div", product, node->inputs[0]));
}

static uint32_t gradient_extreme(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                 uint32_t grad) {
   bool largest = rkb_same_name(node->operation->name, "maximum");
   uint32_t mine = node->inputs[which], other = node->inputs[1 - which];
   uint32_t share = rkb_make_binary(program, "share", largest ? mine : other, largest ? other : mine);
   return rkb_make_sum_to(program, rkb_make_binary(program, "mul", grad, share),
                          rkb_program_shape(program, mine));
}

static uint32_t gradient_relu(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                              uint32_t grad) {
   (void)which;
   return rkb_make_binary(program, "mul", grad, rkb_make_unary(program, "step", node->inputs[0]));
}

static uint32_t gradient_abs(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)which;
   return rkb_make_binary(program, "mul", grad, rkb_make_unary(program, "sign", node->inputs[0]));
}

static uint32_t gradient_leaky_relu(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                                    uint32_t grad) {
   (void)which;
   /* The slope is not zero for NaN, as in PyTorch. */
   uint32_t above = rkb_make_scalar(program, "greater_scalar", node->inputs[0], 0);
   uint32_t below = rkb_make_scalar(program, "mul_scalar", grad, node->reals[0]);
   return rkb_make_where(program, above, grad, below);
}

static uint32_t gradient_clamp(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   (void)which;
   uint32_t inside = rkb_make_unary_with(program, "inside", node->inputs[0], node->reals[0], node->reals[1]);
   return rkb_make_binary(program, "mul", grad, inside);
}

static uint32_t gradient_where(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                               uint32_t grad) {
   if (which == 0)
      return RKB_NO_VALUE;
   uint32_t zero = rkb_make_scalar(program, "mul_scalar", grad, 0);
   uint32_t part =
      rkb_make_where(program, node->inputs[0], which == 1 ? grad : zero, which == 1 ? zero : grad);
   return rkb_make_sum_to(program, part, rkb_program_shape(program, node->inputs[which]));
}

static double no_work(const rkb_program_t *program, const rkb_program_node_t *node) {
   (void)program, (void)node;
   return 0;
}

/* Comparisons have zero slope: no gradient flows. */
static uint32_t gradient_none(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                              uint32_t grad) {
   (void)program, (void)node, (void)which, (void)grad;
   return RKB_NO_VALUE;
}

#define OPERATION(label, is_exact, backward)                                                                 \
   {                                                                                                         \
      .name = #label, .exact = is_exact, .compute = rkb_elementwise_compute, .work = rkb_elementwise_work,   \
      .gradient = gradient_##backward, .point = point_##label, .points = points_##label                      \
   }

static const rkb_operation_t operations[] = {
   OPERATION(add, true, add),
   OPERATION(sub, true, sub),
   OPERATION(mul, true, mul),
   OPERATION(div, false, div),
   OPERATION(maximum, true, extreme),
   OPERATION(minimum, true, extreme),
   OPERATION(share, false, none),
   OPERATION(greater, true, none),
   OPERATION(greater_equal, true, none),
   OPERATION(less, true, none),
   OPERATION(less_equal, true, none),
   OPERATION(equal, true, none),
   OPERATION(greater_scalar, true, none),
   OPERATION(greater_equal_scalar, true, none),
   OPERATION(less_scalar, true, none),
   OPERATION(less_equal_scalar, true, none),
   OPERATION(equal_scalar, true, none),
   OPERATION(add_scalar, false, pass),
   OPERATION(mul_scalar, false, mul_scalar),
   OPERATION(div_scalar, false, div_scalar),
   OPERATION(reverse_sub, false, neg),
   OPERATION(reverse_div, false, reverse_div),
   OPERATION(neg, true, neg),
   OPERATION(relu, true, relu),
   OPERATION(step, true, none),
   OPERATION(abs, true, abs),
   OPERATION(sign, true, none),
   OPERATION(leaky_relu, false, leaky_relu),
   OPERATION(clamp, false, clamp),
   OPERATION(inside, true, none),
   OPERATION(where, true, where),
   OPERATION(bitwise_and, true, none),
   OPERATION(bitwise_right_shift, true, none),
   {.name = "detach",
    .exact = true,
    .compute = rkb_elementwise_compute,
    .work = no_work,
    .gradient = gradient_none,
    .point = point_detach,
    .points = points_detach},
};

const rkb_operation_t *rkb_elementwise_find(const char *name) {
   for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
      if (rkb_same_name(operations[i].name, name))
         return &operations[i];
   return rkb_curve_find(name);
}

/* Constructors */

uint32_t rkb_make_elementwise(rkb_program_t *program, const rkb_operation_t *operation,
                              const uint32_t *inputs, uint32_t count, const double *reals,
                              uint32_t real_count) {
   const char *name = operation->name;
   rkb_shape_t shape = *rkb_program_shape(program, inputs[0]);
   uint32_t dtype = rkb_program_dtype(program, inputs[rkb_same_name(name, "where") ? 1 : 0]);
   for (uint32_t i = 1; i < count; i++) {
      rkb_shape_t before = shape;
      if (rkb_shape_broadcast(&before, rkb_program_shape(program, inputs[i]), &shape))
         continue;
      char left[96], right[96];
      rkb_shape_text(&before, left, sizeof left);
      rkb_shape_text(rkb_program_shape(program, inputs[i]), right, sizeof right);
      return rkb_program_fail(program, "%s of %s and %s: the sizes do not broadcast", name, left, right);
   }
   return rkb_program_add(program, operation, inputs, count, NULL, 0, reals, real_count, dtype, &shape);
}

static uint32_t make(rkb_program_t *program, const char *name, const uint32_t *inputs, uint32_t count,
                     const double *reals, uint32_t real_count) {
   const rkb_operation_t *operation = rkb_elementwise_find(name);
   return operation ? rkb_make_elementwise(program, operation, inputs, count, reals, real_count)
                    : rkb_program_fail(program, "there is no elementwise operation %s", name);
}

uint32_t rkb_make_binary(rkb_program_t *program, const char *name, uint32_t a, uint32_t b) {
   return make(program, name, (uint32_t[]){a, b}, 2, NULL, 0);
}

uint32_t rkb_make_unary(rkb_program_t *program, const char *name, uint32_t x) {
   return make(program, name, (uint32_t[]){x}, 1, NULL, 0);
}

uint32_t rkb_make_unary_with(rkb_program_t *program, const char *name, uint32_t x, double first,
                             double second) {
   return make(program, name, (uint32_t[]){x}, 1, (double[]){first, second}, 2);
}

uint32_t rkb_make_scalar_within(rkb_program_t *program, const char *name, uint32_t x, double scalar,
                                double error) {
   error += (double)(float)scalar == scalar ? 0 : 0x1p-23 * fabs(scalar);
   return make(program, name, (uint32_t[]){x}, 1, (double[]){scalar, error}, 2);
}

uint32_t rkb_make_scalar(rkb_program_t *program, const char *name, uint32_t x, double scalar) {
   return rkb_make_scalar_within(program, name, x, scalar, 0);
}

uint32_t rkb_make_where(rkb_program_t *program, uint32_t condition, uint32_t a, uint32_t b) {
   return make(program, "where", (uint32_t[]){condition, a, b}, 3, NULL, 0);
}
