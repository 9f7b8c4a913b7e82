/* Sums of products of bytes, signed or not, sixteen at a time.  Pure functions; any thread. */
#ifndef RKB_MACHINE_LANES_BYTE_PRODUCTS_H
#define RKB_MACHINE_LANES_BYTE_PRODUCTS_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#ifdef __AVX2__
static inline __m256i sixteen_of(const uint8_t *bytes, bool is_signed) {
   const __m128i packed = _mm_loadu_si128((const __m128i *)(const void *)bytes);
   return is_signed ? _mm256_cvtepi8_epi16(packed) : _mm256_cvtepu8_epi16(packed);
}

/* The sum of sixteen products. */
static inline int32_t sum_byte_products(const uint8_t *x, bool signed_x, const uint8_t *y, bool signed_y) {
   const __m256i pairs = _mm256_madd_epi16(sixteen_of(x, signed_x), sixteen_of(y, signed_y));
   __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
   sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4e));
   sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xb1));
   return _mm_cvtsi128_si32(sum);
}
#else
static inline int32_t sum_byte_products(const uint8_t *x, bool signed_x, const uint8_t *y, bool signed_y) {
   int32_t sum = 0;
   for (uint32_t n = 0; n < 16; n++)
      sum += (signed_x ? (int8_t)x[n] : x[n]) * (signed_y ? (int8_t)y[n] : y[n]);
   return sum;
}
#endif

/* A line of 32 bytes as numbers of 16 bits. */
typedef struct wide_line {
   int16_t number[32] __attribute__((aligned(32)));
} wide_line_t;

static inline void widen_line(const uint8_t *bytes, bool is_signed, wide_line_t *out) {
   for (uint32_t n = 0; n < 32; n++)
      out->number[n] = (int16_t)(is_signed ? (int8_t)bytes[n] : bytes[n]);
}

/* The sums of 32 products: one line with each of four others. */
#ifdef __AVX2__
static inline __m256i line_products(const wide_line_t *x, const wide_line_t *y) {
   const __m256i *one = (const __m256i *)(const void *)x->number,
                 *other = (const __m256i *)(const void *)y->number;
   return _mm256_add_epi32(_mm256_madd_epi16(one[0], other[0]), _mm256_madd_epi16(one[1], other[1]));
}

static inline void sum_line_products(const wide_line_t *x, const wide_line_t y[4], int32_t sums[4]) {
   const __m256i halves =
      _mm256_hadd_epi32(_mm256_hadd_epi32(line_products(x, y), line_products(x, y + 1)),
                        _mm256_hadd_epi32(line_products(x, y + 2), line_products(x, y + 3)));
   _mm_storeu_si128((__m128i *)(void *)sums,
                    _mm_add_epi32(_mm256_castsi256_si128(halves), _mm256_extracti128_si256(halves, 1)));
}
#else
static inline void sum_line_products(const wide_line_t *x, const wide_line_t y[4], int32_t sums[4]) {
   for (uint32_t line = 0; line < 4; line++) {
      sums[line] = 0;
      for (uint32_t n = 0; n < 32; n++)
         sums[line] += x->number[n] * y[line].number[n];
   }
}
#endif

#endif
