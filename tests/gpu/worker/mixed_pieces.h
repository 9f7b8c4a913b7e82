/* Which pieces of a mixture come from which set: what the worker's kernel rkb_mix does, for tests.  Pure; any thread. */
#ifndef TESTS_MIXED_PIECES_H
#define TESTS_MIXED_PIECES_H

#include <stdbool.h>
#include <stdint.h>

enum { MIXED_PIECE = 16 };

static inline bool piece_is_other(uint64_t piece, uint64_t key, uint32_t share) {
   uint64_t x = piece ^ key;
   x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
   x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
   return (uint32_t)((x ^ x >> 32) >> 32) < share;
}

#endif
