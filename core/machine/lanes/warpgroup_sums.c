/* Sums of products of a warp's share of wgmma.mma_async (warpgroup_sums.h).  Products of the factors' floats are exact.  They are scaled so that
 * the last bit that the device keeps is worth 1.  Their conversion to integers then cuts them off toward zero as the device does, and the
 * integers' sum is exact.  Numbers beyond the range of float32, infinities and NaN go one by one through doubles. */
#include "machine/lanes/warpgroup_sums.h"
#include "machine/lanes/eight_words.h"
#include "machine/lanes/half.h"
#include "machine/lanes/tensor_rounding.h"
#include "machine/lanes/warpgroup_zeros.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define PASTE(a, b) a##_##b
#define PASTE2(a, b) PASTE(a, b)
#define NAME(name) PASTE2(name, MACHINE_ISA)

typedef float floats_t __attribute__((vector_size(32), aligned(4), may_alias));
typedef float half_floats_t __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t half_ints_t __attribute__((vector_size(16), aligned(4), may_alias));

#define LEAST_NEAR -100 /* a largest exponent below it: the scale is no float32 */

/* One by one ------------------------------------------------------------------------------------------------------- */

static int32_t exponent_of(uint32_t bits, bool halves) {
   const int32_t field =
      halves ? (int32_t)(bits >> HALF_FRACTION & 31) : (int32_t)(bits >> FLOAT_FRACTION & 255);
   return (field ? field : 1) - (halves ? 15 : 127);
}

/* In units of 2^unit, truncated. */
static int64_t cut_off(double value, int32_t unit) {
   const double units = value * power_of_two(-unit);
   return fabs(units) < 1 ? 0 : (int64_t)units;
}

uint32_t NAME(machine_group_sum_one)(const machine_group_rule_t *rule, const machine_row_factors_t *a,
                                     uint32_t row, const machine_column_factors_t *b, uint32_t column,
                                     bool halves, uint32_t bits) {
   float addend = halves ? half_to_float((uint16_t)bits) : 0;
   if (!halves)
      memcpy(&addend, &bits, sizeof addend);
   int32_t most = TENSOR_LEAST;
   bool nan = isnan(addend), above = addend == INFINITY, below = addend == -INFINITY;
   if (addend != 0 && exponent_of(bits, halves) > most)
      most = exponent_of(bits, halves);
   for (uint32_t k = 0; k < rule->terms; k++) {
      const double x = (double)a->value[row][k], y = (double)b->value[k][column], product = x * y;
      if (isfinite(x) && isfinite(y)) {
         const int32_t exponent = a->exponent[row][k] + b->exponent[k][column];
         most = exponent > most ? exponent : most;
      } else {
         nan |= isnan(product);
         above |= product == (double)INFINITY;
         below |= product == -(double)INFINITY;
      }
   }
   if (nan || above || below)
      return special_sum(nan, above, below, halves);
   const int32_t unit = most - rule->fraction;
   int64_t sum = cut_off((double)addend, unit);
   for (uint32_t k = 0; k < rule->terms; k++)
      sum += cut_off((double)a->value[row][k] * (double)b->value[k][column], unit);
   const double value = (double)sum * power_of_two(unit);
   return halves ? rounded_to_half(value)
                 : truncated_to_float(value) & ~((1u << (FLOAT_FRACTION - rule->kept_fraction)) - 1);
}

/* Rows of eight ------------------------------------------------------------------------------------------------------ */

static inline shorts_t most_shorts(shorts_t a, shorts_t b) {
#ifdef __AVX2__
   return (shorts_t)_mm256_max_epi16((__m256i)a, (__m256i)b);
#else
   const shorts_t more = (shorts_t)(a > b);
   return (a & more) | (b & ~more);
#endif
}

static inline ints_t whole(floats_t value) { /* toward zero */
#ifdef __AVX2__
   return (ints_t)_mm256_cvttps_epi32((__m256)value);
#else
   return __builtin_convertvector(value, ints_t);
#endif
}

/* Joins two halves in registers; a read of all eight from memory would wait until both halves are written. */
static inline floats_t joined(const float *even, const float *odd) {
   const half_floats_t low = *(const half_floats_t *)even, high = *(const half_floats_t *)odd;
   return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}

/* Eight sums of a row.  False where they must be made one by one; then nothing was written.  products: the largest exponents among them. */
static inline __attribute__((always_inline)) bool sum_eight(const machine_group_rule_t *rule, uint32_t terms,
                                                            const float *a, const float (*b)[GROUP_COLUMNS],
                                                            ints_t products, float *even, float *odd) {
   const floats_t addend = rule->adds ? joined(even, odd) : (floats_t){0};
   const ints_t bits = (ints_t)addend & INT32_MAX, exponent = (bits >> FLOAT_FRACTION) - 127;
   const ints_t exact = most_of(products, exponent), most = most_of(exact, LEAST_NEAR + (ints_t){0});
   const ints_t beyond =
      (ints_t)(exact < LEAST_NEAR) & ((ints_t)(bits != 0) | (ints_t)(products > TERM_ZERO / 2));
   const floats_t scale = (floats_t)((127 + rule->fraction - most) << FLOAT_FRACTION),
                  unit = (floats_t)((127 - rule->fraction + most) << FLOAT_FRACTION);
   ints_t sum = {0}, other = whole(addend * scale);
#pragma GCC unroll 8
   for (uint32_t k = 0; k < terms; k += 2) {
      sum += whole(*(const floats_t *)b[k] * a[k] * scale);
      other += whole(*(const floats_t *)b[k + 1] * a[k + 1] * scale);
   }
   const ints_t total = sum + other, magnitude = magnitude_of(total);
   /* Neither half can overflow: each has eight of the 16 terms below 2^27, and one has the addend.  Their sum can overflow. */
   const ints_t large = (ints_t)(magnitude_of(sum) > (1 << 29)) | (ints_t)(magnitude_of(other) > (1 << 29));
   if (any_bit(beyond | large | (ints_t)(exponent == 128)))
      return false;
   const floats_t nearest = __builtin_convertvector(magnitude, floats_t);
   const ints_t kept =
      (ints_t)nearest + (ints_t)(whole(nearest) > magnitude); /* -1 where it was rounded up */
   const ints_t dropped = (1 << (FLOAT_FRACTION - rule->kept_fraction)) - 1 + (ints_t){0};
   const floats_t result = (floats_t)(((ints_t)((floats_t)(kept & ~dropped) * unit)) | (total & INT32_MIN));
   *(half_floats_t *)even = __builtin_shufflevector(result, result, 0, 1, 2, 3);
   *(half_floats_t *)odd = __builtin_shufflevector(result, result, 4, 5, 6, 7);
   return true;
}

static void sum_apart(const machine_group_rule_t *rule, const machine_row_factors_t *a, uint32_t row,
                      const machine_column_factors_t *b, uint32_t tile, float *even, float *odd) {
   for (uint32_t c = 0; c < 8; c++) {
      float *at = c < 4 ? even + c : odd + (c - 4);
      uint32_t bits = 0;
      if (rule->adds)
         memcpy(&bits, at, sizeof bits);
      bits = NAME(machine_group_sum_one)(rule, a, row, b, 8 * tile + c, false, bits);
      memcpy(at, &bits, sizeof bits);
   }
}

/* Products of these factors are exact in doubles, so that a fused multiply-add gives what the two operations give. */
static inline doubles_t multiply_add(bool exact, doubles_t x, doubles_t y, doubles_t z) {
#ifdef __FMA__
   if (exact)
      return (doubles_t)_mm256_fmadd_pd((__m256d)x, (__m256d)y, (__m256d)z);
#endif
   return x * y + z;
}

/* Sums a row and the row eight below it together: each column of factors is read once for both, and eight sums do not wait for each other. */
static inline __attribute__((always_inline)) void sum_doubles(bool exact, bool adds, uint32_t terms,
                                                              const machine_row_factors_t *a, uint32_t row,
                                                              const machine_column_factors_t *b,
                                                              double *const wide[GROUP_REGISTERS]) {
   const uint32_t at = 4 * row;
   doubles_t sum[GROUP_REGISTERS] = {{0}};
   for (uint32_t n = 0; adds && n < GROUP_REGISTERS; n++)
      sum[n] = *(const doubles_t *)(wide[n] + at);
   for (uint32_t k = 0; k < terms; k++) {
      const doubles_t upper = a->wide[row][k] + (doubles_t){0}, lower = a->wide[row + 8][k] + (doubles_t){0};
      for (uint32_t n = 0; n < 4; n++) {
         const doubles_t factor = *(const doubles_t *)&b->wide[k][4 * n];
         const uint32_t number = 4 * (n / 2) + n % 2;
         sum[number] = multiply_add(exact, factor, upper, sum[number]);
         sum[number + 2] = multiply_add(exact, factor, lower, sum[number + 2]);
      }
   }
   for (uint32_t n = 0; n < GROUP_REGISTERS; n++)
      *(doubles_t *)(wide[n] + at) = sum[n];
}

/* The double-precision shadows of all sums. */
static inline __attribute__((always_inline)) void sum_shadows(const machine_group_rule_t *rule,
                                                              uint32_t terms, const machine_row_factors_t *a,
                                                              const machine_column_factors_t *b,
                                                              double *const wide[GROUP_REGISTERS]) {
   const bool finite = wide && wide_is_finite(terms, b);
   for (uint32_t row = 0; wide && row < WARP_ROWS / 2; row++)
      if (finite && rows_are_zeros(terms, a, row))
         add_nothing(rule->adds, row, wide);
      else if (rule->exact_factors)
         sum_doubles(true, rule->adds, terms, a, row, b, wide);
      else
         sum_doubles(false, rule->adds, terms, a, row, b, wide);
}

static inline __attribute__((always_inline)) shorts_t most_products(bool empty, uint32_t terms,
                                                                    const machine_row_factors_t *a,
                                                                    uint32_t row,
                                                                    const machine_column_factors_t *b) {
   shorts_t most = 2 * TERM_ZERO + (shorts_t){0};
   for (uint32_t k = 0; k < terms && !empty; k++)
      most = most_shorts(most, *(const shorts_t *)b->exponent[k] + a->exponent[row][k]);
   return most;
}

/* Where all products of a row are zeros: whether its sums are zeros now.  Zero plus zeros is zero, but -0 plus zeros is not -0. */
static inline __attribute__((always_inline)) bool
sums_are_zeros(bool adds, uint32_t row, float *const results[GROUP_REGISTERS]) {
   const uint32_t half = 2 * (row / 8), at = 4 * (row % 8);
   half_ints_t any = {0};
   for (uint32_t n = 0; n < 4; n++) {
      half_ints_t *const sums = (half_ints_t *)(void *)(results[4 * (n / 2) + half + n % 2] + at);
      if (adds)
         any |= *sums;
      else
         *sums = (half_ints_t){0};
   }
   uint64_t bits[2];
   memcpy(bits, &any, sizeof bits);
   return !(bits[0] | bits[1]);
}

/* A row's sixteen sums, eight at a time.  most: the largest exponents among their products. */
static inline __attribute__((always_inline)) void sum_row(const machine_group_rule_t *rule, bool empty,
                                                          uint32_t terms, const machine_row_factors_t *a,
                                                          uint32_t row, const machine_column_factors_t *b,
                                                          shorts_t most,
                                                          float *const results[GROUP_REGISTERS]) {
   const uint32_t half = 2 * (row / 8), at = 4 * (row % 8);
   for (uint32_t tile = 0; tile < 2; tile++) {
      const half_shorts_t part = tile ? __builtin_shufflevector(most, most, 8, 9, 10, 11, 12, 13, 14, 15)
                                      : __builtin_shufflevector(most, most, 0, 1, 2, 3, 4, 5, 6, 7);
      float *even = results[4 * tile + half] + at, *odd = results[4 * tile + half + 1] + at;
      const float(*factors)[GROUP_COLUMNS] = (const float(*)[GROUP_COLUMNS]) & b->value[0][8 * tile];
      const ints_t products = __builtin_convertvector(part, ints_t);
      if (b->far || a->far[row] ||
          !(empty ? sum_eight(rule, 0, a->value[row], factors, products, even, odd)
                  : sum_eight(rule, terms, a->value[row], factors, products, even, odd)))
         sum_apart(rule, a, row, b, tile, even, odd);
   }
}

static inline __attribute__((always_inline)) void sum_all(const machine_group_rule_t *given, uint32_t terms,
                                                          const machine_row_factors_t *a,
                                                          const machine_column_factors_t *b,
                                                          float *const results[GROUP_REGISTERS],
                                                          double *const wide[GROUP_REGISTERS]) {
   const machine_group_rule_t own = *given, *rule = &own; /* which no store of a result can change */
   const bool no_columns = columns_are_zeros(terms, b);
   sum_shadows(rule, terms, a, b, wide);
   for (uint32_t row = 0; row < WARP_ROWS; row++) {
      if (rule->left_out >> row & 1)
         continue;
      const bool empty = no_columns || row_is_zeros(terms, a, row);
      if (empty && !b->far && !a->far[row] && sums_are_zeros(rule->adds, row, results))
         continue;
      sum_row(rule, empty, terms, a, row, b, most_products(empty, terms, a, row, b), results);
   }
}

void NAME(machine_group_sum)(const machine_group_rule_t *rule, const machine_row_factors_t *a,
                             const machine_column_factors_t *b, float *const results[GROUP_REGISTERS],
                             double *const wide[GROUP_REGISTERS]) {
   if (rule->terms == 16)
      sum_all(rule, 16, a, b, results, wide);
   else if (rule->terms == 8)
      sum_all(rule, 8, a, b, results, wide);
   else
      sum_all(rule, 32, a, b, results, wide);
}

/* Rows of sixteen ---------------------------------------------------------------------------------------------------- */

#ifdef __AVX2__

/* Processors with registers of 64 bytes compute all sums of a row at once, in the same steps. */
#define SIXTEEN __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

typedef float sixteen_floats_t __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t sixteen_ints_t __attribute__((vector_size(64)));

static inline SIXTEEN __attribute__((always_inline)) sixteen_ints_t whole_sixteen(sixteen_floats_t value) {
   return (sixteen_ints_t)_mm512_cvttps_epi32((__m512)value);
}

static inline SIXTEEN __attribute__((always_inline)) sixteen_ints_t most_sixteen(sixteen_ints_t a,
                                                                                 sixteen_ints_t b) {
   return (sixteen_ints_t)_mm512_max_epi32((__m512i)a, (__m512i)b);
}

static inline SIXTEEN __attribute__((always_inline)) sixteen_ints_t magnitude_sixteen(sixteen_ints_t a) {
   return (sixteen_ints_t)_mm512_abs_epi32((__m512i)a);
}

/* Joins the sums from the registers of a row, four from each. */
static inline SIXTEEN __attribute__((always_inline)) sixteen_floats_t joined_sixteen(float *const at[4]) {
   __m512 joined = _mm512_castps128_ps512(_mm_loadu_ps(at[0]));
   joined = _mm512_insertf32x4(joined, _mm_loadu_ps(at[1]), 1);
   joined = _mm512_insertf32x4(joined, _mm_loadu_ps(at[2]), 2);
   return (sixteen_floats_t)_mm512_insertf32x4(joined, _mm_loadu_ps(at[3]), 3);
}

/* Does the same as sum_eight, for all sums of a row. */
static inline SIXTEEN __attribute__((always_inline)) bool
sum_sixteen(const machine_group_rule_t *rule, uint32_t terms, const float *a, const float (*b)[GROUP_COLUMNS],
            sixteen_ints_t products, float *const at[4]) {
   const sixteen_floats_t addend = rule->adds ? joined_sixteen(at) : (sixteen_floats_t){0};
   const sixteen_ints_t bits = (sixteen_ints_t)addend & INT32_MAX, exponent = (bits >> FLOAT_FRACTION) - 127;
   const sixteen_ints_t exact = most_sixteen(products, exponent),
                        most = most_sixteen(exact, LEAST_NEAR + (sixteen_ints_t){0});
   const sixteen_floats_t scale = (sixteen_floats_t)((127 + rule->fraction - most) << FLOAT_FRACTION),
                          unit = (sixteen_floats_t)((127 - rule->fraction + most) << FLOAT_FRACTION);
   sixteen_ints_t sum = {0}, other = whole_sixteen(addend * scale);
#pragma GCC unroll 8
   for (uint32_t k = 0; k < terms; k += 2) {
      sum += whole_sixteen(*(const sixteen_floats_t *)b[k] * a[k] * scale);
      other += whole_sixteen(*(const sixteen_floats_t *)b[k + 1] * a[k + 1] * scale);
   }
   const sixteen_ints_t total = sum + other, magnitude = magnitude_sixteen(total),
                        limit = (1 << 29) + (sixteen_ints_t){0};
   const __mmask16 beyond = _mm512_cmplt_epi32_mask((__m512i)exact, _mm512_set1_epi32(LEAST_NEAR)) &
                            (_mm512_test_epi32_mask((__m512i)bits, (__m512i)bits) |
                             _mm512_cmpgt_epi32_mask((__m512i)products, _mm512_set1_epi32(TERM_ZERO / 2))),
                   large = _mm512_cmpgt_epi32_mask((__m512i)magnitude_sixteen(sum), (__m512i)limit) |
                           _mm512_cmpgt_epi32_mask((__m512i)magnitude_sixteen(other), (__m512i)limit),
                   endless = _mm512_cmpeq_epi32_mask((__m512i)exponent, _mm512_set1_epi32(128));
   if (beyond | large | endless)
      return false;
   const sixteen_floats_t nearest = __builtin_convertvector(magnitude, sixteen_floats_t);
   const sixteen_ints_t kept = (sixteen_ints_t)nearest + (sixteen_ints_t)(whole_sixteen(nearest) > magnitude);
   const sixteen_ints_t dropped = (1 << (FLOAT_FRACTION - rule->kept_fraction)) - 1 + (sixteen_ints_t){0};
   const __m512 result =
      (__m512)(((sixteen_ints_t)((sixteen_floats_t)(kept & ~dropped) * unit)) | (total & INT32_MIN));
   _mm_storeu_ps(at[0], _mm512_castps512_ps128(result));
   _mm_storeu_ps(at[1], _mm512_extractf32x4_ps(result, 1));
   _mm_storeu_ps(at[2], _mm512_extractf32x4_ps(result, 2));
   _mm_storeu_ps(at[3], _mm512_extractf32x4_ps(result, 3));
   return true;
}

static inline SIXTEEN __attribute__((always_inline)) void
sum_all_sixteen(const machine_group_rule_t *given, uint32_t terms, const machine_row_factors_t *a,
                const machine_column_factors_t *b, float *const results[GROUP_REGISTERS],
                double *const wide[GROUP_REGISTERS]) {
   const machine_group_rule_t own = *given, *rule = &own;
   const bool no_columns = columns_are_zeros(terms, b);
   sum_shadows(rule, terms, a, b, wide);
   for (uint32_t row = 0; row < WARP_ROWS; row++) {
      if (rule->left_out >> row & 1)
         continue;
      const bool empty = no_columns || row_is_zeros(terms, a, row);
      if (empty && !b->far && !a->far[row] && sums_are_zeros(rule->adds, row, results))
         continue;
      const shorts_t most = most_products(empty, terms, a, row, b);
      const uint32_t half = 2 * (row / 8), place = 4 * (row % 8);
      float *const at[4] = {results[half] + place, results[half + 1] + place, results[half + 4] + place,
                            results[half + 5] + place};
      if (empty || b->far || a->far[row] ||
          !sum_sixteen(rule, terms, a->value[row], b->value,
                       (sixteen_ints_t)_mm512_cvtepi16_epi32((__m256i)most), at))
         sum_row(rule, empty, terms, a, row, b, most, results);
   }
}

static SIXTEEN void sum_in_sixteens(const machine_group_rule_t *rule, const machine_row_factors_t *a,
                                    const machine_column_factors_t *b, float *const results[GROUP_REGISTERS],
                                    double *const wide[GROUP_REGISTERS]) {
   if (rule->terms == 16)
      sum_all_sixteen(rule, 16, a, b, results, wide);
   else if (rule->terms == 8)
      sum_all_sixteen(rule, 8, a, b, results, wide);
   else
      sum_all_sixteen(rule, 32, a, b, results, wide);
}

static bool has_sixteen(void) {
   return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

machine_group_sum_t *NAME(machine_group_sum_chosen)(void) {
#ifdef __AVX2__
   if (has_sixteen())
      return sum_in_sixteens;
#endif
   return NAME(machine_group_sum);
}
