/* Single precision (PTX ISA 9.0, 9.7.3).  Exact operations follow IEEE 754, with the canonical NaN 0x7fffffff.  Approximations are correctly
 * rounded, which is within every bound that the manual states.  Each operation has a plain form and a form, name_x, that handles rounding, .ftz
 * and .sat. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/approximate.h"
#include "machine/lanes/rounding_mode.h"

static inline float canonical(float x) {
   return x != x ? bits_to_float(0x7fffffff) : x;
}

static inline float flush(float x) {
   return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x;
}

static inline float saturate(float x) {
   return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; /* NaN becomes 0 */
}

static inline float finish(float r, uint32_t flags) {
   r = canonical(r);
   if (flags & FLAG_FTZ)
      r = flush(r);
   return flags & FLAG_SAT ? saturate(r) : r;
}

/* The result goes through memory that the compiler must assume is read, so that the operations stay between
 * the two changes of rounding mode. */
#define WITH_ROUNDING(...)                                                                                   \
   float t[LANES];                                                                                           \
   if (i->rounding)                                                                                          \
      set_rounding(i->rounding);                                                                             \
   __asm__ volatile("" : : "r"(t) : "memory");                                                               \
   __VA_ARGS__;                                                                                              \
   __asm__ volatile("" : : "r"(t) : "memory");                                                               \
   if (i->rounding)                                                                                          \
      set_rounding(ROUND_NEAREST);                                                                           \
   const uint32_t flags = i->flags;                                                                          \
   float *d = LANES_OF(float, i->d);                                                                         \
   EACH_LANE d[l] = KEEP(finish(t[l], flags), d[l]);

#define FLOAT_UNARY(name, expr)                                                                              \
   UNARY_OP(name, float, float, canonical(expr))                                                             \
   OP(name##_x) {                                                                                            \
      const float *a = LANES_OF(float, i->a);                                                                \
      const bool ftz = i->flags & FLAG_FTZ;                                                                  \
      WITH_ROUNDING(EACH_LANE {                                                                              \
         float x = ftz ? flush(a[l]) : a[l];                                                                 \
         t[l] = expr;                                                                                        \
      })                                                                                                     \
   }

#define FLOAT_BINARY(name, expr)                                                                             \
   BINARY_OP(name, float, float, float, canonical(expr))                                                     \
   OP(name##_x) {                                                                                            \
      const float *a = LANES_OF(float, i->a), *b = LANES_OF(float, i->b);                                    \
      const bool ftz = i->flags & FLAG_FTZ;                                                                  \
      WITH_ROUNDING(EACH_LANE {                                                                              \
         float x = ftz ? flush(a[l]) : a[l], y = ftz ? flush(b[l]) : b[l];                                   \
         t[l] = expr;                                                                                        \
      })                                                                                                     \
   }

#define FLOAT_TERNARY(name, expr)                                                                            \
   TERNARY_OP(name, float, float, float, float, canonical(expr))                                             \
   OP(name##_x) {                                                                                            \
      const float *a = LANES_OF(float, i->a), *b = LANES_OF(float, i->b), *c = LANES_OF(float, i->c);        \
      const bool ftz = i->flags & FLAG_FTZ;                                                                  \
      WITH_ROUNDING(EACH_LANE {                                                                              \
         float x = ftz ? flush(a[l]) : a[l], y = ftz ? flush(b[l]) : b[l], z = ftz ? flush(c[l]) : c[l];     \
         t[l] = expr;                                                                                        \
      })                                                                                                     \
   }

/* min and max: a NaN gives the other operand; -0 is below +0. */
static inline float smaller(float x, float y) {
   float r = x < y ? x : y;
   r = x == y ? bits_to_float(float_to_bits(x) | float_to_bits(y)) : r;
   r = x != x ? y : r;
   return y != y ? x : r;
}

static inline float larger(float x, float y) {
   float r = x > y ? x : y;
   r = x == y ? bits_to_float(float_to_bits(x) & float_to_bits(y)) : r;
   r = x != x ? y : r;
   return y != y ? x : r;
}

static inline float nan_if_any(float x, float y, float r) {
   return x != x || y != y ? bits_to_float(0x7fffffff) : r;
}

FLOAT_BINARY(add_f32, x + y)
FLOAT_BINARY(sub_f32, x - y)
FLOAT_BINARY(mul_f32, x *y)
FLOAT_TERNARY(fma_f32, __builtin_fmaf(x, y, z))
FLOAT_BINARY(div_f32, x / y)
FLOAT_BINARY(min_f32, smaller(x, y))
FLOAT_BINARY(max_f32, larger(x, y))
FLOAT_BINARY(min_nan_f32, nan_if_any(x, y, smaller(x, y)))
FLOAT_BINARY(max_nan_f32, nan_if_any(x, y, larger(x, y)))
static inline float signed_by_both(float r, float x, float y) {
   uint32_t sign = (float_to_bits(x) ^ float_to_bits(y)) & 0x80000000;
   return r != r ? r : bits_to_float((float_to_bits(r) & 0x7fffffff) | sign);
}

FLOAT_BINARY(min_xorsign_f32, signed_by_both(smaller(fabsf(x), fabsf(y)), x, y))
FLOAT_BINARY(max_xorsign_f32, signed_by_both(larger(fabsf(x), fabsf(y)), x, y))
FLOAT_BINARY(min_nan_xorsign_f32, nan_if_any(x, y, signed_by_both(smaller(fabsf(x), fabsf(y)), x, y)))
FLOAT_BINARY(max_nan_xorsign_f32, nan_if_any(x, y, signed_by_both(larger(fabsf(x), fabsf(y)), x, y)))
FLOAT_TERNARY(min3_f32, smaller(smaller(x, y), z))
FLOAT_TERNARY(max3_f32, larger(larger(x, y), z))
FLOAT_UNARY(sqrt_f32, __builtin_sqrtf(x))
FLOAT_UNARY(rcp_f32, 1.0f / x)
/* The device decides the last bit of an approximation.  In other environments some results are a neighbour of
 * the nearest float, which the manual's limits for all of these functions allow (at least 1 ulp, or 2^-22.9
 * of the result).  A power of two is not changed, since devices give exact ones where they can. */
static inline float neighbour(uint64_t environment, float y) {
   const uint32_t bits = float_to_bits(y), exponent = bits >> 23 & 0xff;
   const uint32_t turn = (bits * 0x9e3779b1u + (uint32_t)environment) * 0x85ebca6bu >> 30;
   const bool kept = !(bits & 0x7fffff) || exponent < 2 || exponent > 0xfd || environment == 0;
   return bits_to_float(kept ? bits : bits + (turn == 1) - (turn == 2));
}

#define DEVICE(y) neighbour(warp->run->environment, y)

/* rcp.approx may be 1 ulp off, and sqrt.approx 2^-23 of the result (PTX ISA 9.0, 9.7.3.13 and .15); not every neighbouring float is that near.  So
 * in other environments some results are the second of the two floats around the exact result. */
static inline float either(uint64_t environment, double exact, float y) {
   const uint32_t bits = float_to_bits(y), exponent = bits >> 23 & 0xff;
   const uint32_t turn = (bits * 0x9e3779b1u + (uint32_t)environment) * 0x85ebca6bu >> 31;
   const double distance = __builtin_fabs((double)y) - __builtin_fabs(exact);
   const bool kept = turn || exponent < 2 || exponent > 0xfd || environment == 0;
   return bits_to_float(kept ? bits : bits + (distance < 0) - (distance > 0));
}

FLOAT_UNARY(sqrt_near_f32, either(warp->run->environment, __builtin_sqrt((double)x), __builtin_sqrtf(x)))
FLOAT_UNARY(rcp_near_f32, either(warp->run->environment, 1.0 / (double)x, 1.0f / x))
FLOAT_BINARY(div_near_f32, DEVICE(x / y)) /* div.approx and div.full may be 2 ulp off (9.7.3.8) */
FLOAT_UNARY(rsqrt_f32, DEVICE((float)(1.0 / __builtin_sqrt((double)x))))
FLOAT_UNARY(ex2_f32, DEVICE((float)exp2_double(x)))
FLOAT_UNARY(lg2_f32, DEVICE((float)log2_double(x)))
FLOAT_UNARY(sin_f32, DEVICE((float)sin((double)x)))
FLOAT_UNARY(cos_f32, DEVICE((float)cos((double)x)))
FLOAT_UNARY(tanh_f32, DEVICE((float)tanh((double)x)))

UNARY_OP(abs_f32, uint32_t, uint32_t, (x & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : x & 0x7fffffff)
UNARY_OP(neg_f32, uint32_t, uint32_t, (x & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : x ^ 0x80000000)
UNARY_OP(abs_f32_x, float, float, finish(fabsf(x), i->flags))
UNARY_OP(neg_f32_x, float, float, finish(-x, i->flags))
BINARY_OP(copysign_f32, uint32_t, uint32_t, uint32_t, (y & 0x7fffffff) | (x & 0x80000000))

/* testp: operation 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5 subnormal. */
static inline bool has_property(uint32_t bits, uint32_t property) {
   uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffff;
   switch (property) {
   case 0:
      return exponent != 255;
   case 1:
      return exponent == 255 && !fraction;
   case 2:
      return exponent != 255 || !fraction;
   case 3:
      return exponent == 255 && fraction;
   case 4:
      return exponent != 255 && (exponent != 0 || !fraction); /* zeros count as normal */
   default:
      return exponent == 0 && fraction;
   }
}

OP(testp_f32) {
   const uint32_t *a = LANES_OF(uint32_t, i->a);
   uint32_t truth = 0;
   for (int l = 0; l < LANES; l++)
      truth |= (uint32_t)has_property(a[l], i->operation) << l;
   set_predicate(warp, i->d, truth, mask);
}
