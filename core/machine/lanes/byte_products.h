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

#endif
