/* Smooth functions of one element: value, slope and own error.  The slopes are functions too, for gradients.  Pure functions.
 *
 * Own errors are in unit roundoffs of fp32 (u = 2^-24; an ulp is at most 2 u) and count each step of an evaluation: 8 for an
 * approximate function (4 ulp), 1 for a product or a sum.  The bounds also allow exp as 2^(x log2 e), which adds 2 |x|; quotients
 * as products with an approximate reciprocal; tanh and sigmoid through exp; gelu through erf or erfc. */
#include "reference/operations/elementwise.h"

#include <math.h>
#include <string.h>
#include "base/name_table.h"

#define EXP_OWN(x) (isinf(x) ? 0 : 8 + 2 * fabs(x)) /* exact for the infinity of a mask */
/* If exp overflows, 1 / (1 + exp(-x)) gives zero, while the exact value is below 2^-126.  This allows four
 * times that, in unit roundoffs. */
#define FLUSHED 0x1p-100
#define SQRT_HALF 0.70710678118654752440
#define DENSITY(x) (0.39894228040143267794 * exp(-0.5 * (x) * (x)))
#define GELU_SCALE 0.79788456080286535588 /* sqrt(2 / pi) */
#define GELU_CUBE 0.044715

/* Uses the first-order bound while the operand's bound is small beside the operand; otherwise the hull of the values at both ends. */
static inline rkb_point_t curve_point(const rkb_precision_t *precision,
                                      rkb_curve_t (*curve)(double x, const double *reals),
                                      const double *reals, rkb_point_t x) {
   if (rkb_point_is_nan(x))
      return rkb_point_nan();
   rkb_curve_t here = curve(x.value, reals);
   rkb_point_t point = {here.value, here.slope * x.hard, here.slope * here.slope * x.variance, x.flags};
   if (x.hard > 1e-4 * fabs(x.value)) {
      rkb_curve_t low = curve(x.value - x.hard, reals), high = curve(x.value + x.hard, reals);
      double hull = fmax(fabs(low.value - here.value), fabs(high.value - here.value));
      double slope = fmax(here.slope, fmax(low.slope, high.slope));
      /* Near a pole the slope's bound is too large and the hull suffices; at a turning point it is the reverse. */
      point.hard = isfinite(slope) ? fmin(slope * x.hard, fmax(hull, 2 * here.slope * x.hard)) : hull;
      point.variance = fmin(slope * slope * x.variance, hull * hull);
      if (isfinite(slope) &&
          hull > point.hard) { /* a jump or a bend lies between the ends: a kernel may take either branch */
         point.hard = hull;
         point.variance = hull * hull;
         point.flags |= hull > 4 * slope * x.hard ? RKB_POINT_AMBIGUOUS : 0;
      }
      here.own = fmax(here.own, fmax(isfinite(low.own) ? low.own : 0, isfinite(high.own) ? high.own : 0));
      if (!isfinite(slope))
         point.variance = hull * hull;
      if (!isfinite(low.value) || !isfinite(high.value) || !isfinite(point.hard))
         point.flags |= RKB_POINT_DONT_CARE;
   }
   double own = here.own * precision->approximate * precision->unit;
   point.hard += own;
   point.variance += own * own / 3;
   return rkb_point_rounded(precision, point, 0);
}

static rkb_curve_t curve_exp(double x, const double *reals) {
   (void)reals;
   double y = exp(x);
   return (rkb_curve_t){y, y, y * EXP_OWN(x)};
}

static rkb_curve_t curve_log(double x, const double *reals) {
   (void)reals;
   double y = x < 0 ? NAN : log(x);
   return (rkb_curve_t){y, fabs(1 / x), 10 * fabs(y)};
}

static rkb_curve_t curve_sqrt(double x, const double *reals) {
   (void)reals;
   double y = x > 0 ? sqrt(x) : 0; /* x is below zero only as the lower end of a bound */
   return (rkb_curve_t){y, x > 0 ? 0.5 / y : INFINITY, 10 * y};
}

static rkb_curve_t curve_sqrt_slope(double x, const double *reals) {
   (void)reals;
   double y = x > 0 ? 0.5 / sqrt(x) : INFINITY;
   return (rkb_curve_t){y, 0.5 * y / x, 20 * y};
}

static rkb_curve_t curve_rsqrt(double x, const double *reals) {
   (void)reals;
   double y = x > 0 ? 1 / sqrt(x) : INFINITY;
   return (rkb_curve_t){y, 0.5 * y / x, 18 * y}; /* rsqrt, or 1 / sqrt with both approximate */
}

static rkb_curve_t curve_rsqrt_slope(double x, const double *reals) {
   (void)reals;
   double y = x > 0 ? 0.5 / (x * sqrt(x)) : INFINITY;
   return (rkb_curve_t){-y, 1.5 * y / x, 58 * y}; /* -r^3 / 2 from r */
}

static rkb_curve_t curve_reciprocal(double x, const double *reals) {
   (void)reals;
   double y = 1 / x;
   return (rkb_curve_t){y, y * y, 8 * fabs(y)};
}

static rkb_curve_t curve_reciprocal_slope(double x, const double *reals) {
   (void)reals;
   double y = 1 / (x * x);
   return (rkb_curve_t){-y, 2 * y / fabs(x), 20 * y};
}

static rkb_curve_t curve_sin(double x, const double *reals) {
   (void)reals;
   double y = sin(x);
   return (rkb_curve_t){y, fabs(cos(x)), 8 * fabs(y)};
}

static rkb_curve_t curve_cos(double x, const double *reals) {
   (void)reals;
   double y = cos(x);
   return (rkb_curve_t){y, fabs(sin(x)), 8 * fabs(y)};
}

static rkb_curve_t curve_minus_sin(double x, const double *reals) {
   rkb_curve_t c = curve_sin(x, reals);
   c.value = -c.value;
   return c;
}

static rkb_curve_t curve_erf(double x, const double *reals) {
   (void)reals;
   double y = erf(x);
   return (rkb_curve_t){y, 1.12837916709551257390 * exp(-x * x), 8 * fabs(y)};
}

static rkb_curve_t curve_erf_slope(double x, const double *reals) {
   (void)reals;
   double y = 1.12837916709551257390 * exp(-x * x);
   return (rkb_curve_t){y, 2 * fabs(x) * y, y * (10 + 3 * x * x)};
}

/* 1 - 2 / (1 + exp(2x)) and similar forms cancel near 0: an absolute error of twelve roundings. */
static rkb_curve_t curve_tanh(double x, const double *reals) {
   (void)reals;
   double y = tanh(x);
   return (rkb_curve_t){y, 1 - y * y, 8 * fabs(y) + 12};
}

static rkb_curve_t curve_tanh_slope(double x, const double *reals) {
   (void)reals;
   double y = tanh(x), slope = 1 - y * y;
   return (rkb_curve_t){slope, 2 * fabs(y) * slope, 2 * fabs(y) * (8 * fabs(y) + 12) + 2};
}

static double sigmoid(double x) {
   return 1 / (1 + exp(-x));
}

static rkb_curve_t curve_sigmoid(double x, const double *reals) {
   (void)reals;
   double s = sigmoid(x), rest = sigmoid(-x);
   return (rkb_curve_t){s, s * rest, s * (EXP_OWN(x) * rest + 10) + FLUSHED};
}

static rkb_curve_t curve_sigmoid_slope(double x, const double *reals) {
   (void)reals;
   double s = sigmoid(x), rest = sigmoid(-x);
   return (rkb_curve_t){s * rest, s * rest * fabs(1 - 2 * s),
                        s * (EXP_OWN(x) + 12) + FLUSHED}; /* s (1 - s): 1 - s cancels */
}

static rkb_curve_t curve_silu(double x, const double *reals) {
   (void)reals;
   double s = sigmoid(x), rest = sigmoid(-x);
   return (rkb_curve_t){x * s, fabs(s * (1 + x * rest)), fabs(x) * (s * (EXP_OWN(x) * rest + 11) + FLUSHED)};
}

static rkb_curve_t curve_silu_slope(double x, const double *reals) {
   (void)reals;
   double s = sigmoid(x), rest = sigmoid(-x);
   return (rkb_curve_t){s * (1 + x * rest), fabs(s * rest * (2 + x * (rest - s))),
                        (1 + fabs(x)) * (s * (20 + 2 * fabs(x)) + FLUSHED)};
}

static rkb_curve_t curve_gelu(double x, const double *reals) {
   (void)reals;
   double half = 0.5 * erfc(-x * SQRT_HALF), density = DENSITY(x), value = x * half;
   return (rkb_curve_t){value, fabs(half + x * density),
                        6.5 * fabs(x) + 4 * fabs(value) + 2 * x * x * density};
}

static rkb_curve_t curve_gelu_slope(double x, const double *reals) {
   (void)reals;
   double half = 0.5 * erfc(-x * SQRT_HALF), density = DENSITY(x);
   return (rkb_curve_t){half + x * density, density * fabs(2 - x * x),
                        6.5 + half + fabs(x) * density * (14 + 3 * x * x)};
}

static rkb_curve_t curve_gelu_tanh(double x, const double *reals) {
   (void)reals;
   double inner = GELU_SCALE * (x + GELU_CUBE * x * x * x), t = tanh(inner), slope = 1 - t * t;
   double steep = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x), value = 0.5 * x * (1 + t);
   double own = 0.5 * fabs(x) * (8 * fabs(t) + 14 + 6 * fabs(inner) * slope) + 4 * fabs(value);
   return (rkb_curve_t){value, fabs(0.5 * (1 + t) + 0.5 * x * slope * steep), own};
}

static rkb_curve_t curve_gelu_tanh_slope(double x, const double *reals) {
   (void)reals;
   double inner = GELU_SCALE * (x + GELU_CUBE * x * x * x), t = tanh(inner), slope = 1 - t * t;
   double steep = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x), steeper = GELU_SCALE * 6 * GELU_CUBE * x;
   double second = slope * steep + 0.5 * x * (-2 * t * slope * steep * steep + slope * steeper);
   double own = 12 + fabs(x) * steep * (24 + 6 * fabs(inner) * slope);
   return (rkb_curve_t){0.5 * (1 + t) + 0.5 * x * slope * steep, fabs(second), own};
}

static rkb_curve_t curve_softplus(double x, const double *reals) {
   (void)reals;
   double y = x > 30 ? x : log1p(exp(x)), s = sigmoid(x); /* log(1 + exp x) cancels where exp x is small */
   return (rkb_curve_t){y, s, 10 * y + s * EXP_OWN(x) + 2};
}

/* reals: alpha. */
static rkb_curve_t curve_elu(double x, const double *reals) {
   double alpha = reals[0];
   if (x > 0)
      return (rkb_curve_t){x, 1, 0};
   double y = alpha * expm1(x); /* exp(x) - 1 cancels near 0 */
   return (rkb_curve_t){y, fabs(alpha) * exp(x), fabs(alpha) * (exp(x) * EXP_OWN(x) + 3)};
}

static rkb_curve_t curve_elu_slope(double x, const double *reals) {
   double alpha = reals[0], y = x > 0 ? 1 : alpha * exp(x);
   return (rkb_curve_t){y, x > 0 ? 0 : fabs(y), x > 0 ? 0 : fabs(y) * EXP_OWN(x)};
}

/* reals: the exponent.  Small whole exponents as products, others as exp2(p log2 |x|). */
static rkb_curve_t curve_pow(double x, const double *reals) {
   double p = reals[0], y = pow(x, p);
   bool whole = p == nearbyint(p) && fabs(p) <= 16;
   double own = whole ? fabs(p) + 8 : 16 + 4 * fabs(p * log(fabs(x) > 0 ? fabs(x) : 1));
   return (rkb_curve_t){y, fabs(p * pow(x, p - 1)), own * fabs(y)};
}

static uint32_t gradient_pow(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,
                             uint32_t grad) {
   (void)which;
   double p = node->reals[0];
   uint32_t power = rkb_make_scalar(program, "pow", node->inputs[0], p - 1);
   return rkb_make_binary(program, "mul", grad, rkb_make_scalar(program, "mul_scalar", power, p));
}

/* Defines each smooth operation: its point function, and a gradient that multiplies by another smooth operation. */
#define CURVE_POINT(label)                                                                                   \
   static rkb_point_t point_##label(const rkb_precision_t *precision, const double *reals,                   \
                                    const rkb_point_t *in) {                                                 \
      return curve_point(precision, curve_##label, reals, in[0]);                                            \
   }                                                                                                         \
   RKB_POINTS(label)
#define CURVE(label, slope_name)                                                                             \
   CURVE_POINT(label)                                                                                        \
   static uint32_t gradient_##label(rkb_program_t *program, const rkb_program_node_t *node, uint32_t which,  \
                                    uint32_t grad) {                                                         \
      (void)which;                                                                                           \
      uint32_t slope = rkb_make_unary_with(program, slope_name, node->inputs[0],                             \
                                           node->real_count ? node->reals[0] : 0, 0);                        \
      return rkb_make_binary(program, "mul", grad, slope);                                                   \
   }

CURVE(exp, "exp")
CURVE(log, "reciprocal")
CURVE(sqrt, "sqrt_slope")
CURVE(rsqrt, "rsqrt_slope")
CURVE(reciprocal, "reciprocal_slope")
CURVE(sin, "cos")
CURVE(cos, "minus_sin")
CURVE(erf, "erf_slope")
CURVE(tanh, "tanh_slope")
CURVE(sigmoid, "sigmoid_slope")
CURVE(silu, "silu_slope")
CURVE(gelu, "gelu_slope")
CURVE(gelu_tanh, "gelu_tanh_slope")
CURVE(softplus, "sigmoid")
CURVE(elu, "elu_slope")
CURVE_POINT(pow)
CURVE_POINT(sqrt_slope)
CURVE_POINT(rsqrt_slope)
CURVE_POINT(reciprocal_slope)
CURVE_POINT(minus_sin)
CURVE_POINT(erf_slope)
CURVE_POINT(tanh_slope)
CURVE_POINT(sigmoid_slope)
CURVE_POINT(silu_slope)
CURVE_POINT(gelu_slope)
CURVE_POINT(gelu_tanh_slope)
CURVE_POINT(elu_slope)

#define SMOOTH(label)                                                                                        \
   {                                                                                                         \
      .name = #label, .compute = rkb_elementwise_compute, .work = rkb_elementwise_work,                      \
      .gradient = gradient_##label, .point = point_##label, .points = points_##label                         \
   }
#define SLOPE(label)                                                                                         \
   {                                                                                                         \
      .name = #label, .compute = rkb_elementwise_compute, .work = rkb_elementwise_work,                      \
      .point = point_##label, .points = points_##label                                                       \
   }

static const rkb_operation_t operations[] = {
   SMOOTH(exp),
   SMOOTH(log),
   SMOOTH(sqrt),
   SMOOTH(rsqrt),
   SMOOTH(reciprocal),
   SMOOTH(sin),
   SMOOTH(cos),
   SMOOTH(erf),
   SMOOTH(tanh),
   SMOOTH(sigmoid),
   SMOOTH(silu),
   SMOOTH(gelu),
   SMOOTH(gelu_tanh),
   SMOOTH(softplus),
   SMOOTH(elu),
   SMOOTH(pow),
   SLOPE(sqrt_slope),
   SLOPE(rsqrt_slope),
   SLOPE(reciprocal_slope),
   SLOPE(minus_sin),
   SLOPE(erf_slope),
   SLOPE(tanh_slope),
   SLOPE(sigmoid_slope),
   SLOPE(silu_slope),
   SLOPE(gelu_slope),
   SLOPE(gelu_tanh_slope),
   SLOPE(elu_slope),
};

const rkb_operation_t *rkb_curve_find(const char *name) {
   for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
      if (rkb_same_name(operations[i].name, name))
         return &operations[i];
   return NULL;
}
