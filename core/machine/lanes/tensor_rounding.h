/* Rounds the exact sum of a tensor core to float32 or float16, infinities and NaN included (tensor_arithmetic.h).  Pure functions;
 * any thread. */
#ifndef RKB_MACHINE_LANES_TENSOR_ROUNDING_H
#define RKB_MACHINE_LANES_TENSOR_ROUNDING_H

#include "machine/lanes/binary_exponents.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define FLOAT_FRACTION 23
#define HALF_FRACTION 10
#define FLOAT_NAN 0x7fffffffu
#define HALF_NAN 0x7fffu

static inline uint32_t rounded_to_half(double value) {
   const uint32_t sign = signbit(value) ? 0x8000u : 0;
   const double magnitude = fabs(value);
   if (magnitude >= 65520)
      return sign | 0x7c00u;
   const int exponent = binary_exponent(magnitude),
             least = exponent - 10 < -24 ? -24 : exponent - 10;   /* of the last place */
   const double rounded = rint(magnitude * power_of_two(-least)); /* to nearest, even */
   if (rounded == 0)
      return 0; /* also of what is below zero */
   const uint32_t places = (uint32_t)rounded;
   return sign | (least == -24 ? places : ((uint32_t)(least + 24) << HALF_FRACTION) + places);
}

static inline uint32_t truncated_to_float(double value) {
   const double magnitude = fabs(value);
   const uint32_t sign = value < 0 ? 0x80000000u : 0;
   if (magnitude >= 0x1p128)
      return sign | 0x7f800000u;
   const int exponent = binary_exponent(magnitude), least = exponent - 23 < -149 ? -149 : exponent - 23;
   const uint32_t places = (uint32_t)(magnitude * power_of_two(-least)); /* toward zero */
   return value == 0 ? 0
                     : sign | (least == -149 ? places : ((uint32_t)(least + 149) << FLOAT_FRACTION) + places);
}

static inline uint32_t special_sum(bool nan, bool above, bool below, bool halves) {
   if (nan || (above && below))
      return halves ? HALF_NAN : FLOAT_NAN;
   return (halves ? 0x7c00u : 0x7f800000u) | (below ? (halves ? 0x8000u : 0x80000000u) : 0);
}

#endif
