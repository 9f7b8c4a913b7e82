/* Element types: sizes, names, and conversion between their bytes and doubles.  Pure functions; any thread. */
#include "reference/dtype.h"

#include <math.h>
#include <string.h>
#include <rkb/ext/task.h>

static const struct {
   const char *name;
   uint32_t bytes;
} types[] = {{"", 0},        {"float16", 2}, {"bfloat16", 2}, {"float32", 4},
             {"float64", 8}, {"int32", 4},   {"int64", 8},    {"uint8", 1}};
#define TYPES (sizeof types / sizeof types[0])

uint32_t rkb_dtype_bytes(uint32_t dtype) {
   return dtype < TYPES ? types[dtype].bytes : 0;
}

const char *rkb_dtype_name(uint32_t dtype) {
   return dtype < TYPES ? types[dtype].name : "";
}

bool rkb_dtype_parse(const char *name, uint32_t *dtype) {
   for (uint32_t i = 1; i < TYPES; i++)
      if (strcmp(types[i].name, name) == 0) {
         *dtype = i;
         return true;
      }
   return false;
}

/* Rounds to nearest even, with the given number of significand bits and least exponent.  Overflow gives infinity. */
static double round_to(double x, int bits, int least_exponent, double largest) {
   if (x == 0 || !isfinite(x))
      return x;
   int exponent;
   frexp(x, &exponent); /* x = m 2^exponent, 1/2 <= |m| < 1 */
   int last = exponent - bits;
   if (last < least_exponent)
      last = least_exponent;
   double rounded = ldexp(nearbyint(ldexp(x, -last)), last);
   return fabs(rounded) > largest ? copysign(INFINITY, x) : rounded;
}

double rkb_dtype_round(uint32_t dtype, double x) {
   switch (dtype) {
   case RKB_F16:
      return round_to(x, 11, -24, 65504);
   case RKB_BF16:
      return round_to(x, 8, -133, 0x1.fep127);
   case RKB_F32:
      return (double)(float)x;
   default:
      return x;
   }
}

static uint16_t half_bits(double x) {
   uint16_t sign = signbit(x) ? 0x8000 : 0;
   double size = fabs(rkb_dtype_round(RKB_F16, x));
   if (isnan(x))
      return 0x7e00;
   if (isinf(size))
      return (uint16_t)(sign | 0x7c00);
   if (size < 0x1p-14)
      return (uint16_t)(sign | (uint16_t)ldexp(size, 24));
   int exponent;
   double fraction = frexp(size, &exponent); /* 1/2 <= fraction < 1 */
   return (uint16_t)(sign | (exponent + 14) << 10 | ((uint16_t)ldexp(fraction, 11) & 0x3ff));
}

static double half_value(uint16_t bits) {
   int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
   double size = exponent == 0    ? ldexp(fraction, -24)
                 : exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : ldexp(1024 + fraction, exponent - 25);
   return bits & 0x8000 ? -size : size;
}

void rkb_dtype_store(uint32_t dtype, const double *from, uint64_t count, void *to) {
   for (uint64_t i = 0; i < count; i++) {
      double x = from[i];
      float single = (float)rkb_dtype_round(dtype, x);
      uint32_t word;
      memcpy(&word, &single, sizeof word);
      switch (dtype) {
      case RKB_F16:
         ((uint16_t *)to)[i] = half_bits(x);
         break;
      case RKB_BF16:
         ((uint16_t *)to)[i] = (uint16_t)(word >> 16);
         break;
      case RKB_F32:
         ((float *)to)[i] = (float)x;
         break;
      case RKB_F64:
         ((double *)to)[i] = x;
         break;
      case RKB_I32:
         ((int32_t *)to)[i] = (int32_t)x;
         break;
      case RKB_I64:
         ((int64_t *)to)[i] = (int64_t)x;
         break;
      default:
         ((uint8_t *)to)[i] = (uint8_t)x;
      }
   }
}

double rkb_dtype_load(uint32_t dtype, const void *from, uint64_t i) {
   float single;
   uint32_t word;
   switch (dtype) {
   case RKB_F16:
      return half_value(((const uint16_t *)from)[i]);
   case RKB_BF16:
      word = (uint32_t)((const uint16_t *)from)[i] << 16;
      memcpy(&single, &word, sizeof single);
      return single;
   case RKB_F32:
      return ((const float *)from)[i];
   case RKB_F64:
      return ((const double *)from)[i];
   case RKB_I32:
      return ((const int32_t *)from)[i];
   case RKB_I64:
      return (double)((const int64_t *)from)[i];
   default:
      return ((const uint8_t *)from)[i];
   }
}
