/* Numbers that are mixed from others, so that one number of the secret gives many.  The steps are those of splitmix64 (Steele, Lea and Flood,
 * "Fast splittable pseudorandom number generators", 2014).  Any thread. */
#ifndef RKB_MACHINE_STATE_MIXED_NUMBERS_H
#define RKB_MACHINE_STATE_MIXED_NUMBERS_H

#include <stdint.h>

static inline uint64_t machine_mixed(uint64_t number) {
   number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ull;
   number = (number ^ number >> 27) * 0x94d049bb133111ebull;
   return number ^ number >> 31;
}

#endif
