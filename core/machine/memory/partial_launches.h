/* What is known of a launch of which some blocks are not executed, for partial_launches.c and partial_blocks.c alone.  On the machine's thread. */
#ifndef RKB_MACHINE_MEMORY_PARTIAL_LAUNCHES_H
#define RKB_MACHINE_MEMORY_PARTIAL_LAUNCHES_H

#include "machine/memory/stored_bytes.h"
#include "machine/state/execution.h"

typedef struct machine_pattern {
   struct machine_stored_bytes *stores;
   uint32_t count, room, place;
   uint64_t bytes;
} machine_pattern_t;

#define PIECE_WORDS (UINT64_C(1) << PIECE_SHIFT >> 2)
_Static_assert(PIECE_WORDS == 64, "forget_others takes the bits of a piece at once");

static inline uint64_t words_of(const machine_region_t *region) {
   return region->bytes / 4 + 1;
}

static inline bool is_set(const uint64_t *bits, uint64_t n) {
   return bits[n / 64] >> (n % 64) & 1;
}

static inline void set(uint64_t *bits, uint64_t n) {
   bits[n / 64] |= UINT64_C(1) << (n % 64);
}

static inline void want(machine_region_t *region, uint64_t word) {
   set(region->wanted, word);
   set(region->wanted_pieces, word / PIECE_WORDS);
}

/* The place of an extra extent, which belongs to no buffer.  It keeps what is known of a block beside its stores.  words: its path; bytes: its
 * thread-instructions; again: whether it was cut short. */
static inline rkb_machine_extent_t *place_of(const machine_run_t *run, uint32_t launch, uint32_t place) {
   if (!run->extents || !run->extents[launch] || place >= run->extent_places[launch])
      return NULL;
   return &run->extents[launch][(uint64_t)run->extent_places[launch] * run->plan->buffer_count + place];
}

#endif
