/* The double-precision shadow of each single-precision operation.  The dispatcher fills the operands' shadows first and
 * runs these after the operation itself, so that the f32 result is available.  For an operation whose purpose is to round (an explicit direction,
 * or a constant so large that the sum is an integer), the shadow is the rounded result.  Otherwise the range reduction of an exponential would
 * take one integer part from the bits, and the shadow would subtract another. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/approximate.h"

void MACHINE_PASTE2(machine_shadow_take, MACHINE_ISA)(machine_warp_t *warp, uint32_t offset,
                                                      uint32_t number) {
   const uint32_t mask = ~warp->valid[number];
   const float *value = LANES_OF(float, offset);
   double *shadow = SHADOW_OF(offset);
   EACH_LANE shadow[l] = KEEP((double)value[l], shadow[l]);
   warp->valid[number] = FULL_MASK;
}

#define SHADOW_BODY(expr)                                                                                    \
   double *d = SHADOW_OF(i->d);                                                                              \
   if (i->rounding || (i->flags & FLAG_ROUNDING_TRICK)) {                                                    \
      const float *r = LANES_OF(float, i->d);                                                                \
      EACH_LANE d[l] = KEEP((double)r[l], d[l]);                                                             \
   } else if (i->flags & FLAG_SAT) {                                                                         \
      EACH_LANE {                                                                                            \
         double r = expr;                                                                                    \
         r = r > 0 ? (r < 1 ? r : 1) : 0;                                                                    \
         d[l] = KEEP(r, d[l]);                                                                               \
      }                                                                                                      \
   } else if (mask == FULL_MASK) {                                                                           \
      EACH_LANE d[l] = expr;                                                                                 \
   } else {                                                                                                  \
      EACH_LANE {                                                                                            \
         double r = expr;                                                                                    \
         d[l] = KEEP(r, d[l]);                                                                               \
      }                                                                                                      \
   }

#define SHADOW_UNARY(name, expr)                                                                             \
   OP(shadow_##name) {                                                                                       \
      const double *a = SHADOW_OF(i->a);                                                                     \
      SHADOW_BODY(expr)                                                                                      \
   }
#define SHADOW_BINARY(name, expr)                                                                            \
   OP(shadow_##name) {                                                                                       \
      const double *a = SHADOW_OF(i->a), *b = SHADOW_OF(i->b);                                               \
      SHADOW_BODY(expr)                                                                                      \
   }
#define SHADOW_TERNARY(name, expr)                                                                           \
   OP(shadow_##name) {                                                                                       \
      const double *a = SHADOW_OF(i->a), *b = SHADOW_OF(i->b), *c = SHADOW_OF(i->c);                         \
      SHADOW_BODY(expr)                                                                                      \
   }

static inline double smaller(double x, double y) {
   return x != x ? y : y != y ? x : x < y ? x : y;
}

static inline double larger(double x, double y) {
   return x != x ? y : y != y ? x : x > y ? x : y;
}

SHADOW_UNARY(move, a[l])

/* For an instruction that rounds to a narrower format: the shadow is the value without that rounding. */
OP(shadow_keep) {
   const double *a = SHADOW_OF(i->a);
   double *d = SHADOW_OF(i->d);
   EACH_LANE d[l] = KEEP(a[l], d[l]);
}

/* For an instruction that changes the exponent: the shadow is multiplied by the same power of two; where there is no such power (zeros,
 * infinities) the shadow is the result. */
OP(shadow_scale) {
   const double *a = SHADOW_OF(i->a);
   const float *x = LANES_OF(float, i->a), *r = LANES_OF(float, i->d);
   double *d = SHADOW_OF(i->d);
   EACH_LANE {
      double ratio = (double)r[l] / (double)x[l], scaled = a[l] * ratio;
      scaled = ratio > 0x1p-300 && ratio < 0x1p300 ? scaled : (double)r[l];
      d[l] = KEEP(scaled, d[l]);
   }
}

SHADOW_BINARY(add, a[l] + b[l])
SHADOW_BINARY(sub, a[l] - b[l])
SHADOW_BINARY(mul, a[l] * b[l])
SHADOW_TERNARY(fma, a[l] * b[l] + c[l])
SHADOW_BINARY(div, a[l] / b[l])
SHADOW_BINARY(min, smaller(a[l], b[l]))
SHADOW_BINARY(max, larger(a[l], b[l]))
SHADOW_TERNARY(min3, smaller(smaller(a[l], b[l]), c[l]))
SHADOW_TERNARY(max3, larger(larger(a[l], b[l]), c[l]))
SHADOW_UNARY(sqrt, __builtin_sqrt(a[l]))
SHADOW_UNARY(rcp, 1.0 / a[l])
SHADOW_UNARY(rsqrt, 1.0 / __builtin_sqrt(a[l]))
SHADOW_UNARY(ex2, exp2_double(a[l]))
SHADOW_UNARY(lg2, log2_double(a[l]))
SHADOW_UNARY(sin, sin(a[l]))
SHADOW_UNARY(cos, cos(a[l]))
SHADOW_UNARY(tanh, tanh(a[l]))
SHADOW_UNARY(abs, __builtin_fabs(a[l]))
SHADOW_UNARY(neg, -a[l])
SHADOW_BINARY(copysign, __builtin_copysign(b[l], a[l]))
