/* Factors of a warp's share of wgmma.mma_async, taken apart into numbers and exponents (warpgroup_factors.h). */
#include "machine/lanes/warpgroup_factors.h"
#include "machine/lanes/eight_words.h"
#include "machine/lanes/half.h"
#include "machine/lanes/tensor_rounding.h"

#include <string.h>

#define PASTE(a, b) a##_##b
#define PASTE2(a, b) PASTE(a, b)
#define NAME(name) PASTE2(name, MACHINE_ISA)

typedef float floats_t __attribute__((vector_size(32), aligned(4), may_alias));
typedef int16_t half_shorts_t __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint16_t half_words_t __attribute__((vector_size(16), aligned(2), may_alias));
typedef uint32_t word_eight_t __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint8_t bytes_t __attribute__((vector_size(8), aligned(1), may_alias));

#define FAR 60 /* exponents beyond it, either way */

typedef struct format {
   int32_t exponent_bits, fraction_bits;
} format_t;

static format_t format_of(enum machine_tensor_type type) {
   switch (type) {
   case TENSOR_F16:
      return (format_t){5, HALF_FRACTION};
   case TENSOR_BF16:
      return (format_t){8, 7};
   case TENSOR_E4M3:
      return (format_t){4, 3};
   case TENSOR_E5M2:
      return (format_t){5, 2};
   default:
      return (format_t){8, HALF_FRACTION}; /* TF32, without the bits that are dropped */
   }
}

static float value_of(enum machine_tensor_type type, uint32_t bits) {
   uint32_t word = bits << 16;
   float value;
   if (type == TENSOR_F16)
      return half_to_float((uint16_t)bits);
   if (type == TENSOR_E4M3 || type == TENSOR_E5M2)
      return half_to_float(eight_to_half((uint8_t)bits, type == TENSOR_E5M2));
   if (type == TENSOR_TF32)
      word = bits & ~0x1fffu;
   memcpy(&value, &word, sizeof value);
   return value;
}

/* Takes eight bytes apart.  A lane of the returned value is not zero where the byte's number is infinite or NaN.  2^120 (e4m3) and 2^112 (e5m2)
 * turn the format's exponent into that of a float. */
static inline ints_t take_bytes(bool e5m2, bool negated, const uint8_t *bytes, float *value,
                                int16_t *exponent) {
   const words_t bits = __builtin_convertvector(*(const bytes_t *)bytes, words_t), magnitude = bits & 0x7f;
   const int32_t fraction_bits = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
   const ints_t field = (ints_t)magnitude >> fraction_bits, none = (ints_t)(magnitude == 0),
                power = field - (ints_t)(field == 0) - bias;
   const words_t sign = ((bits >> 7) ^ (uint32_t)negated) << 31;
   *(floats_t *)value = (floats_t)(magnitude << (FLOAT_FRACTION - fraction_bits)) *
                        (e5m2 ? 0x1p112f : 0x1p120f) * (floats_t)(sign | 0x3f800000);
   *(half_shorts_t *)exponent = __builtin_convertvector((power & ~none) | (none & TERM_ZERO), half_shorts_t);
   return e5m2 ? (ints_t)(field == 31) : (ints_t)(magnitude == 0x7f);
}

/* Whole eights of e4m3 or e5m2. */
static void take_eights(bool e5m2, bool negated, const uint8_t *bytes, uint32_t eights, float *value,
                        int16_t *exponent, bool *far) {
   ints_t beyond = {0};
   for (uint32_t n = 0; n < eights; n++)
      beyond |= take_bytes(e5m2, negated, bytes + 8 * n, value + 8 * n, exponent + 8 * n);
   if (!any_bit(beyond))
      return;
   *far = true;
   for (uint32_t n = 0; n < 8 * eights; n++) {
      const float number = half_to_float(eight_to_half(bytes[n], e5m2));
      value[n] = negated ? -number : number;
   }
}

void NAME(machine_group_take_bytes)(bool e5m2, bool negated, const uint8_t *bytes, uint32_t eights,
                                    float *value, int16_t *exponent, bool *far) {
   if (e5m2)
      take_eights(true, negated, bytes, eights, value, exponent, far);
   else
      take_eights(false, negated, bytes, eights, value, exponent, far);
}

/* Eight TF32 words at once. */
static void take_tf32(bool negated, const uint32_t *elements, float *value, int16_t *exponent, bool *far) {
   const words_t bits = *(const word_eight_t *)elements & ~0x1fffu, magnitude = bits & 0x7fffffffu;
   const ints_t field = (ints_t)(magnitude >> FLOAT_FRACTION), none = (ints_t)(magnitude == 0),
                power = field - (ints_t)(field == 0) - 127;
   *(floats_t *)value = (floats_t)(bits ^ (negated ? 0x80000000u : 0));
   *(half_shorts_t *)exponent = __builtin_convertvector((power & ~none) | (none & TERM_ZERO), half_shorts_t);
   *far |= any_bit(((ints_t)(power > FAR) | (ints_t)(power < -FAR)) &
                   ~none); /* infinities and NaN have the largest power */
}

void NAME(machine_group_take)(enum machine_tensor_type type, bool negated, const uint32_t *elements,
                              uint32_t count, float *value, int16_t *exponent, bool *far) {
   if (type == TENSOR_TF32 && count == 8) {
      take_tf32(negated, elements, value, exponent, far);
      return;
   }
   const format_t format = format_of(type);
   const int32_t top = (1 << format.exponent_bits) - 1, bias = top >> 1;
   for (uint32_t n = 0; n < count; n++) {
      const uint32_t bits =
         type == TENSOR_TF32 ? elements[n] >> (FLOAT_FRACTION - HALF_FRACTION) : elements[n];
      const int32_t field = (int32_t)(bits >> format.fraction_bits) & top,
                    fraction = (int32_t)bits & ((1 << format.fraction_bits) - 1),
                    power = (field ? field : 1) - bias;
      const float number = value_of(type, elements[n]);
      value[n] = negated ? -number : number;
      exponent[n] = (int16_t)(field | fraction ? power : TERM_ZERO);
      *far |= !isfinite(number) || (number != 0 && (power > FAR || power < -FAR));
   }
}

static inline floats_t floats_of(bool bfloat, half_words_t bits) {
   const words_t word = __builtin_convertvector(bits, words_t);
   if (bfloat)
      return (floats_t)(word << 16);
   /* 2^112 turns a half's exponent into that of a float, also for subnormal numbers; the caller corrects infinities and NaN. */
   return (floats_t)((word & 0x7fff) << 13) * 0x1p112f * (floats_t)((word >> 15 << 31) | 0x3f800000);
}

/* Eight elements.  A lane of the returned value is not zero if an element is infinite, NaN or out of range. */
static inline __attribute__((always_inline)) half_shorts_t
take_eight(bool bfloat, bool negated, half_words_t bits, float *value, int16_t *exponent) {
   const int16_t top = bfloat ? 255 : 31, bias = bfloat ? 127 : 15, shift = bfloat ? 7 : HALF_FRACTION;
   const half_words_t zero = {0}, magnitude = bits & 0x7fff;
   const half_shorts_t field = (half_shorts_t)(magnitude >> (uint16_t)shift),
                       none = (half_shorts_t)(magnitude == zero),
                       power = field - (half_shorts_t)(field == 0) - bias;
   floats_t number = floats_of(bfloat, bits);
   if (negated)
      number = -number;
   *(floats_t *)value = number;
   *(half_shorts_t *)exponent = (power & ~none) | (none & TERM_ZERO);
   return ((half_shorts_t)(field == top) | (half_shorts_t)(power > FAR) | (half_shorts_t)(power < -FAR)) &
          ~none;
}

static inline __attribute__((always_inline)) void take_all(bool bfloat, bool negated,
                                                           const uint16_t *elements, uint32_t lines,
                                                           uint32_t step, float *value, int16_t *exponent,
                                                           bool *far) {
   half_shorts_t beyond = {0};
   for (uint32_t n = 0; n < lines; n++)
      beyond |= take_eight(bfloat, negated, *(const half_words_t *)(elements + 8 * n), value + n * step,
                           exponent + n * step);
   uint64_t any[2];
   memcpy(any, &beyond, sizeof any);
   if (!(any[0] | any[1]))
      return;
   *far = true;
   for (uint32_t n = 0; !bfloat && n < 8 * lines; n++) {
      const float number = half_to_float(elements[n]);
      value[n / 8 * step + n % 8] = negated ? -number : number;
   }
}

void NAME(machine_group_take_halves)(bool bfloat, bool negated, const uint16_t *elements, uint32_t lines,
                                     uint32_t step, float *value, int16_t *exponent, bool *far) {
   if (bfloat)
      take_all(true, negated, elements, lines, step, value, exponent, far);
   else
      take_all(false, negated, elements, lines, step, value, exponent, far);
}
