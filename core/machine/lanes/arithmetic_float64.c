/* Double precision (PTX ISA 9.0, 9.7.3): IEEE operations in all four roundings; it has no shadow. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/double_nan.h"
#include "machine/lanes/rounding_mode.h"

#define WITH_ROUNDING(expr)                                                                                  \
   double t[LANES];                                                                                          \
   set_rounding(i->rounding);                                                                                \
   __asm__ volatile("" : : "r"(t) : "memory");                                                               \
   EACH_LANE t[l] = expr;                                                                                    \
   __asm__ volatile("" : : "r"(t) : "memory");                                                               \
   set_rounding(ROUND_NEAREST);                                                                              \
   double *d = LANES_OF(double, i->d);                                                                       \
   EACH_LANE d[l] = KEEP(t[l], d[l]);

#define DOUBLE_UNARY(name, expr)                                                                             \
   UNARY_OP(name, double, double, expr)                                                                      \
   OP(name##_x) {                                                                                            \
      const double *a = LANES_OF(double, i->a);                                                              \
      WITH_ROUNDING(({                                                                                       \
         double x = a[l];                                                                                    \
         expr;                                                                                               \
      }))                                                                                                    \
   }
#define DOUBLE_BINARY(name, expr)                                                                            \
   BINARY_OP(name, double, double, double, expr)                                                             \
   OP(name##_x) {                                                                                            \
      const double *a = LANES_OF(double, i->a), *b = LANES_OF(double, i->b);                                 \
      WITH_ROUNDING(({                                                                                       \
         double x = a[l], y = b[l];                                                                          \
         expr;                                                                                               \
      }))                                                                                                    \
   }
#define DOUBLE_TERNARY(name, expr)                                                                           \
   TERNARY_OP(name, double, double, double, double, expr)                                                    \
   OP(name##_x) {                                                                                            \
      const double *a = LANES_OF(double, i->a), *b = LANES_OF(double, i->b), *c = LANES_OF(double, i->c);    \
      WITH_ROUNDING(({                                                                                       \
         double x = a[l], y = b[l], z = c[l];                                                                \
         expr;                                                                                               \
      }))                                                                                                    \
   }

static inline double smaller(double x, double y) {
   double r = x == y ? (__builtin_signbit(x) ? x : y) : x < y ? x : y;
   return x != x ? (y != y ? quiet(y) : y) : y != y ? x : r;
}

static inline double larger(double x, double y) {
   double r = x == y ? (__builtin_signbit(x) ? y : x) : x > y ? x : y;
   return x != x ? (y != y ? quiet(y) : y) : y != y ? x : r;
}

DOUBLE_BINARY(add_f64, settle2(x + y, x, y))
DOUBLE_BINARY(sub_f64, settle2(x - y, x, y))
DOUBLE_BINARY(mul_f64, settle2(x *y, x, y))
DOUBLE_TERNARY(fma_f64, settle3(__builtin_fma(x, y, z), x, y, z))
DOUBLE_BINARY(div_f64, x / y)
DOUBLE_UNARY(sqrt_f64, __builtin_sqrt(x))
DOUBLE_UNARY(rcp_f64, 1.0 / x)
BINARY_OP(min_f64, double, double, double, smaller(x, y))
BINARY_OP(max_f64, double, double, double, larger(x, y))
UNARY_OP(rsqrt_f64, double, double, 1.0 / __builtin_sqrt(x))
#define IS_NAN(x) (((x)&0x7fffffffffffffff) > 0x7ff0000000000000)
UNARY_OP(abs_f64, uint64_t, uint64_t, (x & 0x7fffffffffffffff) | (IS_NAN(x) ? 0x0008000000000000 : 0))
UNARY_OP(neg_f64, uint64_t, uint64_t, IS_NAN(x) ? x | 0x0008000000000000 : x ^ 0x8000000000000000)
BINARY_OP(copysign_f64, uint64_t, uint64_t, uint64_t, (y & 0x7fffffffffffffff) | (x & 0x8000000000000000))

/* rcp.approx.ftz.f64: the manual defines it on the top 32 bits alone (9.7.3, 'rcp.approx.ftz.f64').  The low word of the argument is ignored, and
 * the low word of the result is zero. */
static inline double top_word(double x) {
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits);
   bits &= 0xffffffff00000000;
   if ((bits >> 52 & 2047) == 0)
      bits &= 0x8000000000000000;
   memcpy(&x, &bits, sizeof x);
   return x;
}

UNARY_OP(rcp_approx_f64, double, double, top_word(1.0 / top_word(x)))
UNARY_OP(rsqrt_approx_f64, double, double, top_word(1.0 / __builtin_sqrt(top_word(x))))

OP(testp_f64) {
   const uint64_t *a = LANES_OF(uint64_t, i->a);
   uint32_t truth = 0;
   for (int l = 0; l < LANES; l++) {
      uint64_t exponent = a[l] >> 52 & 2047, fraction = a[l] & 0xfffffffffffff;
      bool held[] = {exponent != 2047,
                     exponent == 2047 && !fraction,
                     exponent != 2047 || !fraction,
                     exponent == 2047 && fraction,
                     exponent != 2047 && (exponent || !fraction),
                     !exponent && fraction};
      truth |= (uint32_t)held[i->operation] << l;
   }
   set_predicate(warp, i->d, truth, mask);
}
