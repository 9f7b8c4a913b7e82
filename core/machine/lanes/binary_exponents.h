/* The exponents of doubles, and powers of two, from bits: what frexp and ldexp do for normal numbers, without calls.  Pure functions; any thread. */
#ifndef RKB_MACHINE_LANES_BINARY_EXPONENTS_H
#define RKB_MACHINE_LANES_BINARY_EXPONENTS_H

#include <stdint.h>
#include <string.h>

/* 2 to the exponent, from -1022 to 1023. */
static inline double power_of_two(int exponent) {
   const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
   double value;
   memcpy(&value, &bits, sizeof value);
   return value;
}

/* Returns the exponent of a finite number's first significant bit; -1023 for zero and for all numbers below the least normal number. */
static inline int binary_exponent(double value) {
   uint64_t bits;
   memcpy(&bits, &value, sizeof bits);
   return (int)(bits >> 52 & 0x7ff) - 1023;
}

/* The first bits of a normal number's fraction. */
static inline uint32_t binary_fraction(double value, int bits_kept) {
   uint64_t bits;
   memcpy(&bits, &value, sizeof bits);
   return (uint32_t)(bits >> (52 - bits_kept)) & ((1u << bits_kept) - 1);
}

#endif
