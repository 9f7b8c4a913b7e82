/* Half and bfloat16 arithmetic, scalar and packed (PTX ISA 9.0, 9.7.4): computed in double, whose last bit is made odd when something was lost
 * ('round to odd', Boldo and Melquiond, 2008), and rounded once.  The results are correctly rounded. */
#include "machine/lanes/handlers.h"
#include "machine/lanes/half.h"
#include "machine/lanes/approximate.h"

enum half_form { HALF, HALF2, BFLOAT, BFLOAT2 };

static inline double read_half(uint32_t bits, bool bfloat) {
   return bfloat ? (double)bits_to_float(bits << 16) : (double)half_to_float((uint16_t)bits);
}

static inline uint32_t write_half(double x, bool bfloat, uint32_t flags) {
   if (flags & FLAG_SAT)
      x = x > 0 ? (x < 1 ? x : 1) : 0;
   if (flags & FLAG_ABS) /* .relu; -0 becomes +0 */
      x = x <= 0 ? 0 : x;
   uint32_t bits = bfloat ? double_to_bfloat(x, ROUND_NEAREST) : double_to_half(x, ROUND_NEAREST);
   if ((flags & FLAG_FTZ) && !bfloat && (bits & 0x7c00) == 0)
      bits &= 0x8000;
   return bits;
}

static inline double flush_half(double x, bool bfloat, uint32_t flags) {
   return (flags & FLAG_FTZ) && !bfloat && fabs(x) < 0x1p-14 ? copysign(0.0, x) : x;
}

static inline double smaller(double x, double y) {
   return x != x ? y : y != y ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static inline double larger(double x, double y) {
   return x != x ? y : y != y ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

static inline double nan_if_any(double x, double y, double r) {
   return x != x || y != y ? NAN : r;
}

#define HALF_OP(name, expr)                                                                                  \
   OP(name##_half) {                                                                                         \
      const uint32_t *a = LANES_OF(uint32_t, i->a), *b = LANES_OF(uint32_t, i->b),                           \
                     *c = LANES_OF(uint32_t, i->c);                                                          \
      uint32_t *d = LANES_OF(uint32_t, i->d);                                                                \
      const bool bfloat = i->operation >= BFLOAT, packed = i->operation & 1;                                 \
      for (int l = 0; l < LANES; l++) {                                                                      \
         if (!(mask >> l & 1))                                                                               \
            continue;                                                                                        \
         uint32_t result = 0;                                                                                \
         for (int part = 0; part <= packed; part++) {                                                        \
            double x = flush_half(read_half(a[l] >> 16 * part & 0xffff, bfloat), bfloat, i->flags);          \
            double y = flush_half(read_half(b[l] >> 16 * part & 0xffff, bfloat), bfloat, i->flags);          \
            double z = flush_half(read_half(c[l] >> 16 * part & 0xffff, bfloat), bfloat, i->flags);          \
            (void)y;                                                                                         \
            (void)z;                                                                                         \
            result |= write_half(expr, bfloat, i->flags) << 16 * part;                                       \
         }                                                                                                   \
         d[l] = result;                                                                                      \
      }                                                                                                      \
   }

/* x + y with the last bit odd when the sum is not exact. */
static inline double odd_sum(double x, double y) {
   double sum = x + y, part = sum - x, lost = (x - (sum - part)) + (y - part);
   uint64_t bits;
   memcpy(&bits, &sum, sizeof bits);
   if (lost != 0 && isfinite(sum) && !(bits & 1)) {
      bits += (lost > 0) == (sum > 0) ? 1 : -1ull;
      memcpy(&sum, &bits, sizeof sum);
   }
   return sum;
}

HALF_OP(add, odd_sum(x, y))
HALF_OP(sub, odd_sum(x, -y))
HALF_OP(mul, x *y)
HALF_OP(fma, odd_sum(x *y, z))
HALF_OP(min, smaller(x, y))
HALF_OP(max, larger(x, y))
HALF_OP(min_nan, nan_if_any(x, y, smaller(x, y)))
HALF_OP(max_nan, nan_if_any(x, y, larger(x, y)))
HALF_OP(ex2, exp2_double(x))
HALF_OP(tanh, tanh(x))

static inline double signed_by_both(double r, double x, double y) {
   return r != r ? r : signbit(x) != signbit(y) ? -fabs(r) : fabs(r);
}

HALF_OP(min_xorsign, signed_by_both(smaller(fabs(x), fabs(y)), x, y))
HALF_OP(max_xorsign, signed_by_both(larger(fabs(x), fabs(y)), x, y))
HALF_OP(min_nan_xorsign, nan_if_any(x, y, signed_by_both(smaller(fabs(x), fabs(y)), x, y)))
HALF_OP(max_nan_xorsign, nan_if_any(x, y, signed_by_both(larger(fabs(x), fabs(y)), x, y)))
HALF_OP(neg, -x)
HALF_OP(abs, fabs(x))
