/* Results of operations on floating-point numbers, for the numbers by which a kernel decides (conditions.h).  Registers hold the bits.
 * Functions that a device approximates are those of the C library here.  The result only suggests a size at which a kernel decides something; rkb
 * then executes the kernel at that shape.  No state. */
#include "machine/decode/conditions.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static double of_half(uint32_t bits) {
   const uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
   const double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
                                      : ldexp(fraction, -24);
   return bits >> 15 & 1 ? -size : size;
}

/* Rounds to the nearest whole number, ties to even, as nearbyint does in the mode with which programs begin. */
static uint32_t to_half(double value) {
   const uint32_t sign = signbit(value) ? 0x8000 : 0;
   const double size = fabs(value);
   int exponent;
   if (isnan(value))
      return 0x7fff;
   if (size >= 65520)
      return sign | 0x7c00;
   (void)frexp(size, &exponent);
   if (size == 0 || exponent < -13)
      return sign | (uint32_t)nearbyint(ldexp(size, 24));
   const uint32_t digits = (uint32_t)nearbyint(ldexp(size, 11 - exponent)); /* 1024 to 2048 */
   return sign | ((uint32_t)(exponent + 13) * 1024 + digits);
}

static double of_single(uint32_t bits) {
   float value;
   memcpy(&value, &bits, sizeof value);
   return (double)value;
}

double machine_condition_number(uint64_t bits, uint32_t type) {
   double value;
   memcpy(&value, &bits, sizeof value);
   return type == PTX_F64                      ? value
          : type == PTX_F32                    ? of_single((uint32_t)bits)
          : type == PTX_F16                    ? of_half((uint32_t)bits)
          : type == PTX_BF16                   ? of_single((uint32_t)bits << 16)
          : type == PTX_U64 || type == PTX_B64 ? (double)bits
                                               : (double)(int64_t)machine_condition_as(bits, type);
}

static uint64_t bits_of(double value, uint32_t type) {
   const float single = (float)value;
   uint64_t bits = 0;
   uint32_t half;
   if (type == PTX_F64)
      memcpy(&bits, &value, sizeof bits);
   else if (type == PTX_F16)
      bits = to_half(value);
   else
      memcpy(&bits, &single, sizeof single);
   half = (uint32_t)bits;
   return type == PTX_BF16 ? (half + 0x7fff + (half >> 16 & 1)) >> 16 & 0xffff : bits;
}

static double whole(double value, enum rounding rounding) {
   return rounding == DOWN      ? floor(value)
          : rounding == UP      ? ceil(value)
          : rounding == TO_ZERO ? trunc(value)
                                : nearbyint(value);
}

/* A number out of the type's range becomes the nearest one in it; NaN becomes 0. */
static uint64_t whole_bits(double value, uint32_t type) {
   const uint32_t bits = 8 * ptx_type_bytes(type);
   const bool is_signed = ptx_type_is_signed(type);
   const double high = ldexp(1, (int)(is_signed ? bits - 1 : bits)), low = is_signed ? -high : 0;
   if (isnan(value))
      return 0;
   if (value >= high)
      return is_signed ? UINT64_MAX >> (65 - bits) : UINT64_MAX >> (64 - bits);
   if (value <= low)
      return is_signed ? UINT64_C(1) << (bits - 1) : 0;
   return is_signed ? (uint64_t)(int64_t)value : (uint64_t)value;
}

static uint64_t convert(const struct step *step, uint64_t from) {
   const bool to_float = ptx_type_is_float(step->type), of_float = ptx_type_is_float(step->from);
   double value;
   /* converted directly, because a conversion through a double would round twice */
   if (!of_float && step->type == PTX_F32) {
      const float single = ptx_type_is_signed(step->from) ? (float)(int64_t)from : (float)from;
      value = (double)single;
   } else {
      value = machine_condition_number(from, step->from);
   }
   if (step->rounding != NEAREST || !to_float)
      value = whole(value, step->rounding);
   if (step->saturates)
      value = value > 0 ? (value < 1 ? value : 1) : 0;
   return to_float ? bits_of(value, step->type) : whole_bits(value, step->type);
}

static double compute(const struct step *step, double a, double b, double c) {
   switch (step->operation) {
   case ADD:
      return a + b;
   case SUBTRACT:
      return a - b;
   case MULTIPLY:
      return a * b;
   case MULTIPLY_ADD:
      return step->type == PTX_F32 ? (double)fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
   case QUOTIENT:
      return a / b;
   case LEAST:
      return fmin(a, b);
   case MOST:
      return fmax(a, b);
   case ROOT:
      return sqrt(a);
   case INVERSE:
      return 1 / a;
   case INVERSE_ROOT:
      return 1 / sqrt(a);
   case POWER_OF_TWO:
      return exp2(a);
   case LOGARITHM:
      return log2(a);
   case SINE:
      return sin(a);
   case COSINE:
      return cos(a);
   case TANGENT:
      return tanh(a);
   default:
      return a;
   }
}

static bool compare(const char *how, double a, double b) {
   const bool unordered = isnan(a) || isnan(b);
   if (strcmp(how, "num") == 0 || strcmp(how, "nan") == 0)
      return unordered == (how[1] == 'a');
   if (unordered)
      return how[2] == 'u';
   return strncmp(how, "eq", 2) == 0   ? a == b
          : strncmp(how, "ne", 2) == 0 ? a != b
          : strncmp(how, "lt", 2) == 0 ? a < b
          : strncmp(how, "le", 2) == 0 ? a <= b
          : strncmp(how, "gt", 2) == 0 ? a > b
                                       : a >= b;
}

bool machine_condition_apply_floats(const struct step *step, const uint64_t operands[4], uint64_t *result) {
   const uint64_t sign = UINT64_C(1) << (8 * ptx_type_bytes(step->from) - 1);
   double numbers[3];
   if (step->operation == CONVERT) {
      *result = convert(step, operands[0]);
      return true;
   }
   if (step->operation == MINUS || step->operation == SIZE) {
      *result = step->operation == MINUS ? operands[0] ^ sign : operands[0] & ~sign;
      return true;
   }
   for (uint32_t k = 0; k < 3; k++)
      numbers[k] = machine_condition_number(operands[k], step->from);
   if (step->operation == COMPARE) {
      *result = compare(step->comparison, numbers[0], numbers[1]);
      return true;
   }
   double value = compute(step, numbers[0], numbers[1], numbers[2]);
   if (step->saturates)
      value = value > 0 ? (value < 1 ? value : 1) : 0;
   *result = bits_of(value, step->type);
   return true;
}
