/* A number for a list of numbers that nobody can steer who does not know the key.  Functions of their arguments; any thread.
 *
 * The sum is the value of a polynomial at the key, modulo the prime 2^61 - 1.  Its coefficients are the numbers, none of which may be 0.  Two different
 * lists of at most n numbers have one sum for fewer than n + 1 keys of 2^61 (Carter and Wegman, Universal classes of hash functions, 1979). */
#ifndef RKB_MACHINE_STATE_KEYED_SUM_H
#define RKB_MACHINE_STATE_KEYED_SUM_H

#include <stdint.h>

#define KEYED_SUM_PRIME ((UINT64_C(1) << 61) - 1)

/* Any number, as a key. */
static inline uint64_t keyed_sum_key(uint64_t number) {
   return number % (KEYED_SUM_PRIME - 2) + 2;
}

/* The sum of the list with one more number, below the prime; the sum of the empty list is 0. */
static inline uint64_t keyed_sum(uint64_t key, uint64_t sum, uint64_t number) {
   const unsigned __int128 whole = (unsigned __int128)sum * key + number;
   const uint64_t once = (uint64_t)(whole & KEYED_SUM_PRIME) + (uint64_t)(whole >> 61), /* 2^61 is 1 */
      twice = (once & KEYED_SUM_PRIME) + (once >> 61);
   return twice >= KEYED_SUM_PRIME ? twice - KEYED_SUM_PRIME : twice;
}

#endif
