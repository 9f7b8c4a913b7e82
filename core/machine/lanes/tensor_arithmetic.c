/* Sums of products as tensor cores form them (tensor_arithmetic.h): products are exact.  Every term is truncated toward zero at a fixed number of
 * bits below the largest exponent.  The sum of the truncated terms is exact; it becomes a float32 by truncation or a float16 by rounding to
 * nearest.  Sixteen products of 11-bit significands, 27 bits each when aligned, fill 31 bits, so eight sums go through one vector of 32-bit words;
 * the addend joins them in doubles, exactly. */
#include "machine/lanes/tensor_arithmetic.h"
#include "machine/lanes/eight_words.h"
#include "machine/lanes/half.h"
#include "machine/lanes/tensor_rounding.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define PASTE(a, b) a##_##b
#define PASTE2(a, b) PASTE(a, b)
#define NAME(name) PASTE2(name, MACHINE_ISA)

/* Eight words at a time ------------------------------------------------------------------------------------------- */

typedef double doubles_t __attribute__((vector_size(64), may_alias));
typedef int64_t longs_t __attribute__((vector_size(64), may_alias));
typedef int32_t half_ints_t __attribute__((vector_size(16), aligned(4), may_alias));
typedef double half_doubles_t __attribute__((vector_size(32), may_alias));
typedef int64_t half_longs_t __attribute__((vector_size(32), may_alias));
typedef float half_floats_t __attribute__((vector_size(16), may_alias));

/* A logical shift, with a count for each word; counts from 32 on leave nothing. */
static inline ints_t shifted(ints_t value, ints_t count) {
#ifdef __AVX2__
   return (ints_t)_mm256_srlv_epi32((__m256i)value, (__m256i)count);
#else
   const words_t few = (words_t)((words_t)count < 32);
   return (ints_t)(((words_t)value >> ((words_t)count & 31)) & few);
#endif
}

static inline ints_t with_sign(ints_t value, ints_t of) {
#ifdef __AVX2__
   return (ints_t)_mm256_sign_epi32((__m256i)value, (__m256i)of);
#else
   const ints_t sign = of >> 31;
   return (value ^ sign) - sign;
#endif
}

/* For significands with at most 16 bits, sign included: the halves of a word are multiplied, and b's upper
 * half is zero. */
static inline ints_t product_of(ints_t a, ints_t b) {
#ifdef __AVX2__
   return (ints_t)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
   return a * (b << 16 >> 16);
#endif
}

static inline ints_t all(int32_t value) {
   return value + (ints_t){0};
}

/* Taking apart -------------------------------------------------------------------------------------------------- */

typedef struct format {
   int32_t exponent_bits, fraction_bits, dropped;
} format_t;

static format_t format_of(enum machine_tensor_type type) {
   switch (type) {
   case TENSOR_F16:
      return (format_t){5, HALF_FRACTION, 0};
   case TENSOR_BF16:
      return (format_t){8, 7, 0};
   case TENSOR_TF32:
      return (format_t){8, HALF_FRACTION, FLOAT_FRACTION - HALF_FRACTION};
   default:
      return (format_t){8, FLOAT_FRACTION, 0};
   }
}

/* Known where this is inlined, so that its shifts are by constants. */
static inline __attribute__((always_inline)) ints_t take(format_t format, ints_t bits, ints_t *significand,
                                                         ints_t *exponent) {
   const int32_t top = (1 << format.exponent_bits) - 1, bias = top >> 1, one = 1 << format.fraction_bits;
   bits = (ints_t)((words_t)bits >> (uint32_t)format.dropped);
   const ints_t field = bits >> format.fraction_bits & top, fraction = bits & (one - 1),
                sign = -(bits >> (format.exponent_bits + format.fraction_bits) & 1), tiny = field == 0,
                magnitude = fraction | (one & ~tiny), large = field == top,
                kept = chosen(large, -(ints_t)(fraction == 0), magnitude);
   *significand = (kept ^ sign) - sign;
   *exponent =
      chosen(large, all(TENSOR_INFINITE), chosen(magnitude == 0, all(TENSOR_ZERO), field - tiny - bias));
   return large;
}

static inline __attribute__((always_inline)) bool take_all(format_t format, const uint32_t *elements,
                                                           uint32_t count, machine_tensor_factors_t *out) {
   ints_t special = {0};
   for (uint32_t n = 0; n < count; n += 8)
      special |= take(format, *(const ints_t *)(elements + n), (ints_t *)(out->significand + n),
                      (ints_t *)(out->exponent + n));
   return any_bit(special);
}

typedef float floats_t __attribute__((vector_size(32), may_alias));

/* eight_to_half of eight words.  A product with 2^120 turns an exponent of e4m3 into that of a float, also for subnormal numbers. */
static inline ints_t halves_of(ints_t elements, bool e5m2) {
   const ints_t magnitude = elements & 0x7f, sign = (elements & 0x80) << 8;
   if (e5m2)
      return chosen(magnitude > 0x7c, all(0x7fff), sign | magnitude << 8);
   const ints_t wide = (ints_t)((floats_t)(magnitude << (FLOAT_FRACTION - 3)) * 0x1p120f),
                half = (wide >> (FLOAT_FRACTION - HALF_FRACTION)) - (112 << HALF_FRACTION);
   return chosen(magnitude == 0x7f, all(0x7fff), sign | (half & (ints_t)(magnitude != 0)));
}

/* Eight-bit floats are taken as halves: devices convert them first, which makes subnormal ones normal. */
static void take_eight(bool e5m2, const uint32_t *elements, uint32_t count, machine_tensor_factors_t *out) {
   uint32_t halves[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   for (uint32_t n = 0; n < count; n += 8)
      *(ints_t *)(halves + n) = e5m2 ? halves_of(*(const ints_t *)(elements + n), true)
                                     : halves_of(*(const ints_t *)(elements + n), false);
   out->special = take_all(format_of(TENSOR_F16), halves, count, out);
}

void NAME(machine_tensor_take)(enum machine_tensor_type type, const uint32_t *elements, uint32_t count,
                               machine_tensor_factors_t *out) {
   out->fraction = type == TENSOR_BF16 ? 7 : HALF_FRACTION;
   if (type == TENSOR_BF16)
      out->special = take_all(format_of(TENSOR_BF16), elements, count, out);
   else if (type == TENSOR_TF32)
      out->special = take_all(format_of(TENSOR_TF32), elements, count, out);
   else if (type == TENSOR_F16)
      out->special = take_all(format_of(TENSOR_F16), elements, count, out);
   else
      take_eight(type == TENSOR_E5M2, elements, count, out);
}

/* 2 to these powers. */
static inline doubles_t powers_of_two(ints_t exponent) {
   return (doubles_t)((__builtin_convertvector(exponent, longs_t) + 1023) << 52);
}

void NAME(machine_tensor_doubles)(const machine_tensor_factors_t *factors, uint32_t count, double *out) {
   for (uint32_t n = 0; n < count; n += 8) {
      const ints_t significand = *(const ints_t *)(factors->significand + n),
                   exponent = *(const ints_t *)(factors->exponent + n),
                   used = exponent & (ints_t)(exponent > TENSOR_ZERO) & (ints_t)(exponent < TENSOR_INFINITE);
      const doubles_t value =
         __builtin_convertvector(significand, doubles_t) * powers_of_two(used - factors->fraction);
      memcpy(out + n, &value, sizeof value);
   }
   for (uint32_t n = 0; factors->special && n < count; n++)
      if (factors->exponent[n] == TENSOR_INFINITE)
         out[n] = factors->significand[n] ? factors->significand[n] * (double)INFINITY : (double)NAN;
}

/* Element by element --------------------------------------------------------------------------------------------- */

typedef struct term {
   int64_t significand;
   int32_t exponent, fraction;
} term_t;

static term_t addend(uint32_t bits, bool halves) {
   ints_t significand, exponent;
   take(format_of(halves ? TENSOR_F16 : TENSOR_F32), all((int32_t)bits), &significand, &exponent);
   return (term_t){significand[0], exponent[0], halves ? HALF_FRACTION : FLOAT_FRACTION};
}

static int64_t cut_off(int64_t value, int32_t shift) {
   const uint64_t magnitude = (uint64_t)llabs(value), kept = shift >= 0    ? magnitude << shift
                                                             : shift > -64 ? magnitude >> -shift
                                                                           : 0;
   return value < 0 ? -(int64_t)kept : (int64_t)kept;
}

/* a in steps of 1, b in steps of 8. */
static uint32_t sum_slowly(const machine_tensor_rule_t *rule, uint32_t terms,
                           const machine_tensor_factors_t *a, uint32_t first_a,
                           const machine_tensor_factors_t *b, uint32_t first_b, bool halves, uint32_t bits) {
   const term_t c = addend(bits, halves);
   int32_t most = c.exponent > rule->least ? c.exponent : rule->least;
   bool nan = false, above = false, below = false;
   if (c.exponent == TENSOR_INFINITE) {
      nan = c.significand == 0;
      above = c.significand > 0;
      below = c.significand < 0;
   }
   for (uint32_t k = 0; k < terms; k++) {
      const uint32_t i = first_a + k, j = first_b + TENSOR_COLUMNS * k;
      const int32_t product = a->significand[i] * b->significand[j],
                    exponent = a->exponent[i] + b->exponent[j];
      if (a->exponent[i] == TENSOR_INFINITE || b->exponent[j] == TENSOR_INFINITE) {
         nan |= product == 0; /* of a zero, or of a NaN */
         above |= product > 0;
         below |= product < 0;
      } else {
         most = exponent > most ? exponent : most;
      }
   }
   if (nan || above || below)
      return special_sum(nan, above, below, halves);
   int64_t sum = cut_off(c.significand, c.exponent - c.fraction - (most - rule->fraction));
   for (uint32_t k = 0; k < terms; k++) {
      const uint32_t i = first_a + k, j = first_b + TENSOR_COLUMNS * k;
      const int32_t shift =
         a->exponent[i] + b->exponent[j] - a->fraction - b->fraction - (most - rule->fraction);
      const int64_t product = (int64_t)a->significand[i] * b->significand[j];
      sum += product ? cut_off(product, shift) : 0;
   }
   const double value = (double)sum * power_of_two(most - rule->fraction);
   return halves ? rounded_to_half(value) : truncated_to_float(value);
}

void NAME(machine_tensor_sum_slowly)(const machine_tensor_rule_t *rule, uint32_t rows, uint32_t terms,
                                     const machine_tensor_factors_t *a, const machine_tensor_factors_t *b,
                                     bool halves, uint32_t *sum) {
   for (uint32_t row = 0; row < rows; row++)
      for (uint32_t column = 0; column < TENSOR_COLUMNS; column++) {
         uint32_t *at = &sum[row * TENSOR_COLUMNS + column];
         *at = sum_slowly(rule, terms, a, row * terms, b, column, halves, *at);
      }
}

/* A row of eight sums at a time ------------------------------------------------------------------------------------ */

/* Converts sums of the aligned terms from whole numbers to float32.  Truncation drops the low 29 bits of a double's fraction. */
static inline half_floats_t finish_half(half_ints_t products, half_ints_t addend, half_ints_t scale) {
   const half_doubles_t sum = __builtin_convertvector(products, half_doubles_t) +
                              __builtin_convertvector(addend, half_doubles_t),
                        power = (half_doubles_t)((__builtin_convertvector(scale, half_longs_t) + 1023) << 52),
                        kept = (half_doubles_t)((half_longs_t)(sum * power) & ~INT64_C(0x1fffffff));
   return __builtin_convertvector(kept, half_floats_t);
}

#define LOW_HALF(x) __builtin_shufflevector(x, x, 0, 1, 2, 3)
#define HIGH_HALF(x) __builtin_shufflevector(x, x, 4, 5, 6, 7)

/* False where a result is subnormal, or was rounded to the least normal number, because conversion does not
 * truncate there.  The halves are joined in registers; a read of all eight from memory would have to wait for both writes. */
static inline bool finish(ints_t products, ints_t addend, ints_t scale, uint32_t *out) {
   const half_floats_t low = finish_half(LOW_HALF(products), LOW_HALF(addend), LOW_HALF(scale)),
                       high = finish_half(HIGH_HALF(products), HIGH_HALF(addend), HIGH_HALF(scale));
   const ints_t bits = (ints_t)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7),
                magnitude = bits & INT32_MAX;
   *(ints_t *)out = bits;
   return !any_bit((ints_t)(magnitude <= 0x00800000) & (ints_t)(magnitude != 0));
}

#undef LOW_HALF
#undef HIGH_HALF

/* A tile of prepared factors.  The significands (of 11 bits, or of 8 bits, which are shifted further) of a and b are each shifted half of the way
 * to the place where products begin, so that products need no shift of their own. */
typedef struct ready {
   int32_t a[TENSOR_ROWS * TENSOR_TERMS] __attribute__((aligned(32)));
   ints_t b[TENSOR_TERMS];
   const int32_t *a_exponent;
   const ints_t *b_exponent;
   int32_t right;        /* how far products still have to be shifted */
   int32_t addend_right; /* how far addends have to be shifted right, if at all */
   int32_t addend_left;
} ready_t;

static inline void make_ready(const machine_tensor_rule_t *rule, uint32_t rows, uint32_t terms,
                              const machine_tensor_factors_t *a, const machine_tensor_factors_t *b,
                              int32_t fraction, ready_t *out) {
   const int32_t left = rule->fraction - a->fraction - b->fraction, shift_b = left > 0 ? (left + 1) / 2 : 0,
                 shift_a = left > 0 ? left / 2 : 0, addend = rule->fraction - fraction;
   for (uint32_t n = 0; n < rows * terms; n += 8)
      *(ints_t *)(out->a + n) = *(const ints_t *)(a->significand + n) << shift_a;
   for (uint32_t k = 0; k < terms; k++)
      out->b[k] = ((const ints_t *)b->significand)[k] << shift_b & 0xffff;
   out->a_exponent = a->exponent;
   out->b_exponent = (const ints_t *)b->exponent;
   out->right = left < 0 ? -left : 0;
   out->addend_left = addend > 0 ? addend : 0;
   out->addend_right = addend < 0 ? -addend : 0;
}

/* Computes a row of eight sums; false where they must be computed element by element. */
static inline __attribute__((always_inline)) bool sum_row(const machine_tensor_rule_t *rule, uint32_t terms,
                                                          const ready_t *factors, uint32_t row, bool halves,
                                                          uint32_t *sum) {
   const int32_t *a = factors->a + row * terms, *a_exponent = factors->a_exponent + row * terms;
   const ints_t *b = factors->b, *b_exponent = factors->b_exponent;
   ints_t c, c_exponent, most = all(rule->least), total = {0};
   if (any_bit(take(format_of(halves ? TENSOR_F16 : TENSOR_F32), *(const ints_t *)sum, &c, &c_exponent)))
      return false;
   most = most_of(most, c_exponent);
   for (uint32_t k = 0; k < terms; k++)
      most = most_of(most, b_exponent[k] + a_exponent[k]);
   const ints_t from = most + factors->right;
   for (uint32_t k = 0; k < terms; k++) {
      const ints_t product = product_of(all(a[k]), b[k]);
      total += with_sign(shifted(magnitude_of(product), from - (b_exponent[k] + a_exponent[k])), product);
   }
   const ints_t added = with_sign(
      shifted(magnitude_of(c) << factors->addend_left, most + factors->addend_right - c_exponent), c);
   if (!halves)
      return finish(total, added, most - rule->fraction, sum);
   for (uint32_t n = 0; n < TENSOR_COLUMNS; n++)
      sum[n] = rounded_to_half(((double)total[n] + added[n]) * power_of_two(most[n] - rule->fraction));
   return true;
}

/* Whether a row of zeros is multiplied and added to eight sums of zero, as beyond the edge of a matrix.  Then the results are +0 for any finite b. */
static inline __attribute__((always_inline)) bool adds_nothing(const int32_t *row, uint32_t terms,
                                                               const uint32_t *sum) {
   const ints_t sums = *(const ints_t *)sum << 1;
   ints_t bits = sums;
   if (terms == 16)
      bits |= *(const ints_t *)row | *(const ints_t *)(row + 8);
   for (uint32_t k = 0; terms != 16 && k < terms; k++)
      bits |= all(row[k]);
   return !any_bit(bits);
}

static inline __attribute__((always_inline)) void sum_rows(const machine_tensor_rule_t *rule, uint32_t rows,
                                                           uint32_t terms, const machine_tensor_factors_t *a,
                                                           const machine_tensor_factors_t *b, bool halves,
                                                           uint32_t *sum) {
   ready_t factors;
   make_ready(rule, rows, terms, a, b, halves ? HALF_FRACTION : FLOAT_FRACTION, &factors);
   for (uint32_t row = 0; row < rows; row++) {
      uint32_t *at = &sum[row * TENSOR_COLUMNS], before[TENSOR_COLUMNS];
      if (adds_nothing(factors.a + row * terms, terms, at)) {
         memset(at, 0, sizeof before);
         continue;
      }
      memcpy(before, at, sizeof before);
      if (sum_row(rule, terms, &factors, row, halves, at))
         continue;
      for (uint32_t column = 0; column < TENSOR_COLUMNS; column++)
         at[column] = sum_slowly(rule, terms, a, row * terms, b, column, halves, before[column]);
   }
}

void NAME(machine_tensor_sum)(const machine_tensor_rule_t *rule, uint32_t rows, uint32_t terms,
                              const machine_tensor_factors_t *a, const machine_tensor_factors_t *b,
                              bool halves, uint32_t *sum) {
   if (a->special || b->special)
      NAME(machine_tensor_sum_slowly)(rule, rows, terms, a, b, halves, sum);
   else if (terms == 16 && !halves)
      sum_rows(rule, rows, 16, a, b, false, sum);
   else if (halves)
      sum_rows(rule, rows, terms, a, b, true, sum);
   else
      sum_rows(rule, rows, terms, a, b, false, sum);
}
