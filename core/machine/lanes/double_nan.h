/* Which NaN an operation in double precision gives: an operand's, or the device's own. */
#ifndef RKB_MACHINE_LANES_DOUBLE_NAN_H
#define RKB_MACHINE_LANES_DOUBLE_NAN_H

#include <stdint.h>
#include <string.h>

static inline double quiet(double x) {
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits);
   bits |= 0x0008000000000000;
   memcpy(&x, &bits, sizeof x);
   return x;
}

static inline double default_nan(void) {
   const uint64_t bits = 0xfff8000000000000;
   double x;
   memcpy(&x, &bits, sizeof x);
   return x;
}

/* Returns the NaN that an H200 gives: of two operands' the second's, made quiet; of three the second, then
 * the last. */
static inline double settle2(double r, double x, double y) {
   return r == r ? r : y != y ? quiet(y) : x != x ? quiet(x) : default_nan();
}

static inline double settle3(double r, double x, double y, double z) {
   return r == r ? r : y != y ? quiet(y) : z != z ? quiet(z) : x != x ? quiet(x) : default_nan();
}

#endif
