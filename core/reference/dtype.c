/* Element types: sizes, names, and conversion between their bytes and doubles.  Pure functions; any thread. */
#include "reference/dtype.h"

#include <math.h>
#include <string.h>
#include <rkb/ext/task.h>

static const struct {
   const char *name;
   uint32_t bytes;
   rkb_narrow_t narrow; /* bits 0: not a narrow type */
} types[] = {[RKB_F16] = {"float16", 2, {11, -24, 65504, true}},
             [RKB_BF16] = {"bfloat16", 2, {8, -133, 0x1.fep127, true}},
             [RKB_F32] = {"float32", 4, {0}},
             [RKB_F64] = {"float64", 8, {0}},
             [RKB_I32] = {"int32", 4, {0}},
             [RKB_I64] = {"int64", 8, {0}},
             [RKB_U8] = {"uint8", 1, {0}},
             [RKB_I8] = {"int8", 1, {0}},
             [RKB_E4M3] = {"float8_e4m3fn", 1, {4, -9, 448, false}},
             [RKB_E5M2] = {"float8_e5m2", 1, {3, -16, 57344, true}}};
#define TYPES (sizeof types / sizeof types[0])

uint32_t rkb_dtype_bytes(uint32_t dtype) {
   return dtype < TYPES ? types[dtype].bytes : 0;
}

const char *rkb_dtype_name(uint32_t dtype) {
   return dtype >= 1 && dtype < TYPES ? types[dtype].name : "";
}

bool rkb_dtype_parse(const char *name, uint32_t *dtype) {
   for (uint32_t i = 1; i < TYPES; i++)
      if (strcmp(types[i].name, name) == 0) {
         *dtype = i;
         return true;
      }
   return false;
}

const rkb_narrow_t *rkb_dtype_narrow(uint32_t dtype) {
   return dtype < TYPES && types[dtype].narrow.bits ? &types[dtype].narrow : NULL;
}

bool rkb_dtype_is_float(uint32_t dtype) {
   return dtype == RKB_F32 || dtype == RKB_F64 || rkb_dtype_narrow(dtype);
}

#define DOUBLE_FRACTION 52
#define DOUBLE_BIAS 1023

static uint64_t bits_of(double x) {
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits);
   return bits;
}

/* The exponent of the least normal number of the type. */
static int least_normal(const rkb_narrow_t *type) {
   return type->least_exponent + type->bits - 1;
}

/* The exponent of a finite number that is neither 0 nor subnormal as a double. */
static int exponent_of(double x) {
   return (int)(bits_of(x) >> DOUBLE_FRACTION & 0x7ff) - DOUBLE_BIAS;
}

/* Whether a number is normal in the type and cannot overflow when it is rounded.  Nearly every number is, and
 * the fast way below is for such numbers. */
static bool in_range(const rkb_narrow_t *type, double x) {
   const int exponent = exponent_of(x);
   return exponent >= least_normal(type) && exponent < exponent_of(type->largest);
}

#define GROUP 16u

/* The same for a group of numbers, without a branch for each, so that the compiler can test them side by
 * side. */
static inline bool all_in_range(const rkb_narrow_t *type, const double numbers[GROUP]) {
   const int64_t least = least_normal(type) + DOUBLE_BIAS,
                 most = exponent_of(type->largest) + DOUBLE_BIAS - 1;
   int64_t outside = 0;
   for (unsigned i = 0; i < GROUP; i++) {
      const int64_t exponent = (int64_t)(bits_of(numbers[i]) >> DOUBLE_FRACTION & 0x7ff);
      outside |= (exponent - least) | (most - exponent);
   }
   return outside >= 0;
}

/* The bits of such a number, rounded to nearest even.  Adds just less than half a unit, plus the last bit
 * that stays; the caller still has to cut off the bits below bit `drop`. */
static uint64_t rounded_bits(const rkb_narrow_t *type, double x, int *drop) {
   const uint64_t bits = bits_of(x);
   *drop = DOUBLE_FRACTION + 1 - type->bits;
   return bits + (UINT64_C(1) << (*drop - 1)) - 1 + (bits >> *drop & 1);
}

static double cut_off(const rkb_narrow_t *type, double x) {
   int drop;
   uint64_t bits = rounded_bits(type, x, &drop);
   bits &= ~((UINT64_C(1) << drop) - 1);
   memcpy(&x, &bits, sizeof x);
   return x;
}

/* Rounds to nearest even.  Overflow gives infinity, or NaN where the type has none. */
static double round_to(const rkb_narrow_t *type, double x) {
   double rounded = x;
   if (in_range(type, x))
      return cut_off(type, x);
   if (x == 0 || isnan(x))
      return x;
   if (exponent_of(x) < least_normal(type)) {
      rounded = ldexp(nearbyint(ldexp(x, -type->least_exponent)), type->least_exponent);
   } else if (!isinf(x)) {
      rounded = cut_off(type, x);
   }
   if (fabs(rounded) <= type->largest)
      return rounded;
   return type->infinite ? copysign(INFINITY, x) : NAN;
}

double rkb_dtype_round(uint32_t dtype, double x) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   return narrow ? round_to(narrow, x) : dtype == RKB_F32 ? (double)(float)x : x;
}

void rkb_dtype_round_each(uint32_t dtype, uint64_t count, double *numbers) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   for (uint64_t i = 0; dtype == RKB_F32 && i < count; i++)
      numbers[i] = (double)(float)numbers[i];
   if (!narrow)
      return;
   const rkb_narrow_t type = *narrow;
   uint64_t i = 0;
   for (; count - i >= GROUP; i += GROUP) {
      const bool all = all_in_range(&type, numbers + i);
      for (unsigned k = 0; all && k < GROUP; k++)
         numbers[i + k] = cut_off(&type, numbers[i + k]);
      for (unsigned k = 0; !all && k < GROUP; k++)
         numbers[i + k] = round_to(&type, numbers[i + k]);
   }
   for (; i < count; i++)
      numbers[i] = in_range(&type, numbers[i]) ? cut_off(&type, numbers[i]) : round_to(&type, numbers[i]);
}

double rkb_dtype_convert(uint32_t dtype, double x) {
   const rkb_narrow_t *narrow = rkb_dtype_narrow(dtype);
   if (narrow)
      return in_range(narrow, x) ? cut_off(narrow, x) : round_to(narrow, x);
   return rkb_dtype_is_float(dtype) ? x : trunc(x);
}

/* The bits of a narrow number: a sign, an exponent that counts from 0 for subnormal numbers, a fraction. */
static uint32_t narrow_bits(uint32_t dtype, double x) {
   const rkb_narrow_t *type = rkb_dtype_narrow(dtype);
   const int width = (int)(8 * types[dtype].bytes), fraction_bits = type->bits - 1;
   const uint32_t sign = signbit(x) ? 1u << (width - 1) : 0,
                  past = (1u << (width - 1)) - (1u << fraction_bits);
   double size = fabs(round_to(type, x));
   if (isnan(size))
      return type->infinite ? past | 1u << (fraction_bits - 1) : past | ((1u << fraction_bits) - 1);
   if (isinf(size))
      return sign | past;
   if (size == 0 || exponent_of(size) < least_normal(type))
      return sign | (uint32_t)ldexp(size, -type->least_exponent);
   uint32_t biased = (uint32_t)(exponent_of(size) - least_normal(type) + 1);
   uint64_t fraction = bits_of(size) >> (DOUBLE_FRACTION - fraction_bits);
   return sign | biased << fraction_bits | ((uint32_t)fraction & ((1u << fraction_bits) - 1));
}

static double narrow_value(uint32_t dtype, uint32_t bits) {
   const rkb_narrow_t *type = rkb_dtype_narrow(dtype);
   const int width = (int)(8 * types[dtype].bytes), fraction_bits = type->bits - 1;
   const uint32_t fraction = bits & ((1u << fraction_bits) - 1), most = (1u << (width - type->bits)) - 1,
                  exponent = bits >> fraction_bits & most;
   if (exponent != 0 && exponent != most) { /* nearly every number */
      const uint64_t wide = (uint64_t)(bits >> (width - 1) & 1) << 63 |
                            (uint64_t)((int)exponent - 1 + least_normal(type) + DOUBLE_BIAS)
                               << DOUBLE_FRACTION |
                            (uint64_t)fraction << (DOUBLE_FRACTION - fraction_bits);
      double value;
      memcpy(&value, &wide, sizeof value);
      return value;
   }
   double size = exponent == 0
                    ? ldexp(fraction, type->least_exponent)
                    : ldexp(fraction + (1u << fraction_bits), (int)exponent - 1 + type->least_exponent);
   if (exponent == most && type->infinite)
      size = fraction ? NAN : INFINITY;
   else if (size > type->largest)
      size = NAN;
   return bits >> (width - 1) & 1 ? -size : size;
}

/* The same for a number in range. */
static inline __attribute__((always_inline)) uint32_t
normal_bits(const rkb_narrow_t *type, uint32_t sign_place, uint64_t rebias, double x) {
   int drop;
   const uint64_t bits = rounded_bits(type, x, &drop), sign = bits >> 63 << sign_place,
                  rest = ((bits >> drop) - rebias) & ((UINT64_C(1) << sign_place) - 1);
   return (uint32_t)(sign | rest);
}

static inline __attribute__((always_inline)) void put_narrow(uint32_t bytes, uint32_t number, void *to,
                                                             uint64_t at) {
   if (bytes == 2)
      ((uint16_t *)to)[at] = (uint16_t)number;
   else
      ((uint8_t *)to)[at] = (uint8_t)number;
}

static inline __attribute__((always_inline)) void store_narrow(uint32_t dtype, uint32_t bytes,
                                                               const double *from, uint64_t count, void *to) {
   const rkb_narrow_t type = types[dtype].narrow;
   const uint64_t rebias = (uint64_t)(DOUBLE_BIAS + least_normal(&type) - 1) << (type.bits - 1);
   const uint32_t sign_place = 8 * bytes - 1;
   uint64_t i = 0;
   for (; count - i >= GROUP && all_in_range(&type, from + i); i += GROUP)
      for (unsigned k = 0; k < GROUP; k++)
         put_narrow(bytes, normal_bits(&type, sign_place, rebias, from[i + k]), to, i + k);
   for (; i < count; i++)
      put_narrow(bytes,
                 in_range(&type, from[i]) ? normal_bits(&type, sign_place, rebias, from[i])
                                          : narrow_bits(dtype, from[i]),
                 to, i);
}

void rkb_dtype_store(uint32_t dtype, const double *from, uint64_t count, void *to) {
   if (rkb_dtype_narrow(dtype) && types[dtype].bytes == 2) {
      store_narrow(dtype, 2, from, count, to);
      return;
   }
   if (rkb_dtype_narrow(dtype)) {
      store_narrow(dtype, 1, from, count, to);
      return;
   }
   if (dtype == RKB_I8) { /* int32 first: two numbers go to int32 side by side, and none to int8 */
      for (uint64_t i = 0; i < count; i++)
         ((int8_t *)to)[i] = (int8_t)(int32_t)from[i];
      return;
   }
   for (uint64_t i = 0; i < count; i++) {
      double x = from[i];
      switch (dtype) {
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
   switch (dtype) {
   case RKB_F16:
   case RKB_BF16:
      return narrow_value(dtype, ((const uint16_t *)from)[i]);
   case RKB_F32:
      return ((const float *)from)[i];
   case RKB_F64:
      return ((const double *)from)[i];
   case RKB_I32:
      return ((const int32_t *)from)[i];
   case RKB_I64:
      return (double)((const int64_t *)from)[i];
   case RKB_I8:
      return ((const int8_t *)from)[i];
   case RKB_E4M3:
   case RKB_E5M2:
      return narrow_value(dtype, ((const uint8_t *)from)[i]);
   default:
      return ((const uint8_t *)from)[i];
   }
}

bool rkb_dtype_holds(uint32_t wide, uint32_t dtype) {
   const rkb_narrow_t *from = rkb_dtype_narrow(dtype), *to = rkb_dtype_narrow(wide);
   if (wide == dtype || wide == RKB_F64)
      return true;
   if (from && to)
      return to->bits >= from->bits && to->least_exponent <= from->least_exponent &&
             to->largest >= from->largest;
   if (wide == RKB_F32)
      return from || rkb_dtype_bytes(dtype) == 1;
   if (rkb_dtype_is_float(dtype))
      return false;
   if (to)
      return dtype == RKB_I8 || dtype == RKB_U8 ? to->bits >= 8 : false;
   return rkb_dtype_bytes(wide) > rkb_dtype_bytes(dtype);
}
