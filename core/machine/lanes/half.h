/* Half and bfloat16 as bits: to float exactly, from double in any rounding.  The conversions are written out and not left to the processor, so
 * that every host gives the same bits. */
#ifndef RKB_MACHINE_LANES_HALF_H
#define RKB_MACHINE_LANES_HALF_H

#include "machine/decode/decoded_program.h"
#include "machine/lanes/binary_exponents.h"

#include <math.h>
#include <string.h>

static inline float half_to_float(uint16_t half) {
   uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff, bits;
   float value;
   if (exponent == 31) {
      bits = sign | 0x7f800000 | fraction << 13;
   } else if (exponent) {
      bits = sign | (exponent + 112) << 23 | fraction << 13;
   } else {
      float magnitude = (float)fraction * 0x1p-24f;
      memcpy(&bits, &magnitude, sizeof bits);
      bits |= sign;
   }
   memcpy(&value, &bits, sizeof value);
   return value;
}

/* x rounded to an integer; ties to even, or away from zero for ROUND_AWAY. */
static inline double round_integer(double x, uint32_t rounding) {
   if (x != x)
      return x + x; /* made quiet */
   switch (rounding) {
   case ROUND_ZERO:
      return trunc(x);
   case ROUND_DOWN:
      return floor(x);
   case ROUND_UP:
      return ceil(x);
   case ROUND_AWAY:
      return round(x);
   default:
      return rint(x);
   }
}

/* A finite x to a format of fraction_bits, least exponent and largest finite value; the result as a double. */
static inline double round_to_format(double x, int fraction_bits, int least, double largest,
                                     uint32_t rounding) {
   if (x == 0 || x != x || isinf(x))
      return x;
   int exponent = binary_exponent(x);
   if (exponent < least)
      exponent = least;
   double quantum = power_of_two(exponent - fraction_bits);
   double r = copysign(round_integer(x / quantum, rounding) * quantum, x);
   if (fabs(r) > largest) {
      bool stays =
         rounding == ROUND_ZERO || (rounding == ROUND_DOWN && x > 0) || (rounding == ROUND_UP && x < 0);
      r = copysign(stays ? largest : INFINITY, x);
   }
   return r;
}

static inline uint16_t double_to_half(double x, uint32_t rounding) {
   double r = round_to_format(x, 10, -14, 65504.0, rounding);
   if (r != r)
      return 0x7fff;
   uint16_t sign = signbit(r) ? 0x8000 : 0;
   double magnitude = fabs(r);
   if (isinf(magnitude))
      return sign | 0x7c00;
   if (magnitude < 0x1p-14)
      return (uint16_t)(sign | (uint16_t)(magnitude * 0x1p24));
   return (uint16_t)(sign | (uint32_t)(binary_exponent(magnitude) + 15) << 10 |
                     binary_fraction(magnitude, 10));
}

static inline uint16_t double_to_bfloat(double x, uint32_t rounding) {
   double r = round_to_format(x, 7, -126, 0x1.fep127, rounding);
   if (r != r)
      return 0x7fff;
   float narrow = (float)r; /* exact */
   uint32_t bits;
   memcpy(&bits, &narrow, sizeof bits);
   return (uint16_t)(bits >> 16);
}

/* Eight bits: e4m3 has no infinities and one NaN beside its sign, e5m2 is the upper half of a half.  Conversion to them
 * saturates (PTX ISA 9.0, 9.7.9.21, .satfinite). */
static inline uint8_t double_to_eight(double x, bool e5m2) {
   const int fraction_bits = e5m2 ? 2 : 3, least = e5m2 ? -14 : -6;
   const double largest = e5m2 ? 57344.0 : 448.0;
   if (x != x)
      return 0x7f;
   double r = round_to_format(x, fraction_bits, least, largest, ROUND_NEAREST);
   r = fabs(r) > largest ? copysign(largest, r) : r;
   const uint8_t sign = signbit(r) ? 0x80 : 0;
   const double magnitude = fabs(r);
   if (magnitude < power_of_two(least))
      return (uint8_t)(sign | (uint8_t)(magnitude * power_of_two(fraction_bits - least)));
   return (uint8_t)(sign | (uint32_t)(binary_exponent(magnitude) - least + 1) << fraction_bits |
                    binary_fraction(magnitude, fraction_bits));
}

/* As the bits of a half, exactly. */
static inline uint16_t eight_to_half(uint8_t bits, bool e5m2) {
   const uint32_t magnitude = bits & 0x7f;
   if (e5m2)
      return magnitude > 0x7c ? 0x7fff : (uint16_t)(bits << 8);
   if (magnitude == 0x7f)
      return 0x7fff;
   const uint32_t exponent = magnitude >> 3, fraction = magnitude & 7, sign = (bits & 0x80u) << 8;
   if (exponent)
      return (uint16_t)(sign | (exponent + 8) << 10 | fraction << 7);
   if (fraction == 0)
      return (uint16_t)sign;
   /* A subnormal number, which is a normal half: its first bit is worth 2 to the (first - 9). */
   const uint32_t first = 31 - (uint32_t)__builtin_clz(fraction);
   return (uint16_t)(sign | (first + 6) << 10 | (fraction << (10 - first) & 0x3ff));
}

#endif
