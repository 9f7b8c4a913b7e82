/* Rows of 16-bit elements or of words, turned into columns.  Pure; any thread. */
#ifndef RKB_MACHINE_LANES_TRANSPOSE_H
#define RKB_MACHINE_LANES_TRANSPOSE_H

#include <stdint.h>

typedef uint16_t eight_t __attribute__((vector_size(16), aligned(2), may_alias));

/* Eight rows of eight become eight columns of eight. */
static inline void turn(const eight_t in[8], eight_t out[8]) {
#define LOW(x, y) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
   eight_t a[8], b[8];
   for (int n = 0; n < 4; n++) {
      a[2 * n] = LOW(in[n], in[n + 4]);
      a[2 * n + 1] = HIGH(in[n], in[n + 4]);
   }
   for (int n = 0; n < 4; n++) {
      b[2 * n] = LOW(a[n], a[n + 4]);
      b[2 * n + 1] = HIGH(a[n], a[n + 4]);
   }
   for (int n = 0; n < 4; n++) {
      out[2 * n] = LOW(b[n], b[n + 4]);
      out[2 * n + 1] = HIGH(b[n], b[n + 4]);
   }
#undef LOW
#undef HIGH
}

typedef uint32_t word_four_t __attribute__((vector_size(16), aligned(4), may_alias));

/* Four rows of four become four columns of four. */
static inline void turn_words(const word_four_t in[4], word_four_t out[4]) {
   const word_four_t even_low = __builtin_shufflevector(in[0], in[2], 0, 4, 1, 5),
                     odd_low = __builtin_shufflevector(in[1], in[3], 0, 4, 1, 5),
                     even_high = __builtin_shufflevector(in[0], in[2], 2, 6, 3, 7),
                     odd_high = __builtin_shufflevector(in[1], in[3], 2, 6, 3, 7);
   out[0] = __builtin_shufflevector(even_low, odd_low, 0, 4, 1, 5);
   out[1] = __builtin_shufflevector(even_low, odd_low, 2, 6, 3, 7);
   out[2] = __builtin_shufflevector(even_high, odd_high, 0, 4, 1, 5);
   out[3] = __builtin_shufflevector(even_high, odd_high, 2, 6, 3, 7);
}

#endif
