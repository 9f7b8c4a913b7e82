/* Eight 32-bit words at a time, for the sums of tensor cores.  Pure functions; any thread. */
#ifndef RKB_MACHINE_LANES_EIGHT_WORDS_H
#define RKB_MACHINE_LANES_EIGHT_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

typedef int32_t ints_t __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t words_t __attribute__((vector_size(32), aligned(4), may_alias));

static inline ints_t chosen(ints_t truth, ints_t yes, ints_t no) {
   return (yes & truth) | (no & ~truth);
}

static inline ints_t most_of(ints_t a, ints_t b) {
#ifdef __AVX2__
   return (ints_t)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
   return chosen(a > b, a, b);
#endif
}

static inline ints_t magnitude_of(ints_t value) {
#ifdef __AVX2__
   return (ints_t)_mm256_abs_epi32((__m256i)value);
#else
   const ints_t sign = value >> 31;
   return (ints_t)((words_t)(value ^ sign) - (words_t)sign); /* the least number stays, as in the other branch */
#endif
}

static inline bool any_bit(ints_t value) {
#ifdef __AVX2__
   return !_mm256_testz_si256((__m256i)value, (__m256i)value);
#else
   return (value[0] | value[1] | value[2] | value[3] | value[4] | value[5] | value[6] | value[7]) != 0;
#endif
}

#endif
