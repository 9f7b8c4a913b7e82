/* What one block leaves behind, in a launch of which some blocks are not executed (partial_launches.c).  The block's stores are noted one by one
 * and taken up when the block has ended.  On the machine's thread. */
#include "machine/memory/partial_launches.h"
#include "machine/memory/stored_runs.h"

#include <stdlib.h>
#include <string.h>

/* The bits of one word of a bitmap that stand for n up to, but not including, end; *next: where the bits of the next one begin. */
static uint64_t bits_from(uint64_t n, uint64_t end, uint64_t *next) {
   *next = (n / 64 + 1) * 64 < end ? (n / 64 + 1) * 64 : end;
   return (*next - n == 64 ? UINT64_MAX : (UINT64_C(1) << (*next - n)) - 1) << n % 64;
}

static void set_all(uint64_t *bits, uint64_t n, uint64_t end) {
   for (uint64_t next; n < end; n = next)
      bits[n / 64] |= bits_from(n, end, &next);
}

/* Remembers a store for machine_partial_block; without memory the run ends. */
static void remember(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes) {
   struct machine_stored_bytes *last =
      run->block_store_count ? &run->block_stores[run->block_store_count - 1] : NULL;
   if (last && last->region == region && last->offset + last->bytes == offset) {
      last->bytes += bytes;
      return;
   }
   if (run->block_store_count == run->block_store_room) {
      const uint32_t room = run->block_store_room ? 2 * run->block_store_room : 1024;
      struct machine_stored_bytes *larger = realloc(run->block_stores, room * sizeof *larger);
      if (!larger) {
         run->out_of_memory = run->stop = true;
         return;
      }
      run->block_stores = larger;
      run->block_store_room = room;
   }
   run->block_stores[run->block_store_count++] = (struct machine_stored_bytes){region, offset, bytes};
}

void machine_partial_store(machine_run_t *run, machine_region_t *region, uint64_t offset, uint64_t bytes) {
   const uint32_t launch = run->place >> PLACE_BITS, place = run->place & MOST_PLACES;
   remember(run, region, offset, bytes);
   if (!run->extents[launch] || place >= run->extent_places[launch])
      return;
   rkb_machine_extent_t *extent =
      &run->extents[launch][(uint64_t)place * run->plan->buffer_count + region->buffer];
   if (!extent->words || offset < extent->low)
      extent->low = offset;
   if (offset + bytes > extent->high)
      extent->high = offset + bytes;
   extent->words += (bytes + 3) / 4;
   extent->bytes += bytes;
}

#define TWO_WORDS UINT64_C(0x0101010101010101) /* bytes that all hold values */

void machine_partial_read(machine_region_t *region, uint64_t offset, uint64_t bytes) {
   const uint64_t end = offset + bytes;
   for (uint64_t n = offset, next; region->defined && n < end; n = next) {
      uint64_t two = 0;
      next = ((n >> PIECE_SHIFT) + 1) << PIECE_SHIFT;
      next = next < end ? next : end;
      if (machine_is_blank(region, n, next - n)) {
         set_all(region->wanted, n / 4, (next - 1) / 4 + 1);
         set(region->wanted_pieces, n / 4 / PIECE_WORDS);
         continue;
      }
      next = (n & ~UINT64_C(3)) + 4;
      if (n % 4 == 0 && n + sizeof two <= end) {
         memcpy(&two, region->defined + n, sizeof two);
         next = n + sizeof two;
         two ^= TWO_WORDS;
         if ((uint32_t)two)
            want(region, n / 4);
         if (two >> 32)
            want(region, n / 4 + 1);
         continue;
      }
      for (uint64_t k = n; k < next && k < end; k++)
         two |= region->defined[k] ^ 1u;
      if (two)
         want(region, n / 4);
   }
}

static bool only_lacked_values(const machine_run_t *run) {
   bool only = run->finding_count != 0;
   for (uint32_t n = 0; n < run->finding_count; n++)
      only &= strcmp(run->findings[n].reason, "memory.uninitialised") == 0;
   return only;
}

static uint64_t bytes_in(const struct machine_stored_bytes *stores, uint32_t count) {
   uint64_t bytes = 0;
   for (uint32_t n = 0; n < count; n++)
      bytes += stores[n].bytes;
   return bytes;
}

/* Whether an atomic operation was the last to change the word. */
static bool was_added(const machine_region_t *region, uint64_t word) {
   return region->defined &&
          (region->defined[4 * word] == 0 || region->defined[4 * word] == ATOMIC_UNFINISHED);
}

/* Whether the words from first up to, but not including, end hold values throughout. */
static bool all_hold_values(const machine_region_t *region, uint64_t first, uint64_t end) {
   uint64_t word = first, two = TWO_WORDS;
   uint32_t one = (uint32_t)TWO_WORDS;
   for (; region->defined && word + 2 <= end && two == TWO_WORDS; word += 2)
      memcpy(&two, region->defined + 4 * word, sizeof two);
   if (region->defined && word < end)
      memcpy(&one, region->defined + 4 * word, sizeof one);
   return two == TWO_WORDS && one == (uint32_t)TWO_WORDS;
}

/* How many whole words of these bytes earlier blocks stored.  Words that atomic operations changed do not
 * count, because many blocks may change them. */
static uint64_t stored_before(const struct machine_stored_bytes *bytes) {
   const machine_region_t *region = bytes->region;
   const uint64_t end = (bytes->offset + bytes->bytes) / 4;
   uint64_t count = 0;
   for (uint64_t word = (bytes->offset + 3) / 4, next; word < end; word = next) {
      const uint64_t bits = bits_from(word, end, &next);
      for (uint64_t left = region->stored[word / 64] & ~region->added[word / 64] & bits; left;
           left &= left - 1)
         count += !was_added(region, word / 64 * 64 + (uint64_t)__builtin_ctzll(left));
   }
   return count;
}

static bool is_before(const struct machine_stored_bytes *x, const struct machine_stored_bytes *y) {
   return x->region->buffer != y->region->buffer ? x->region->buffer < y->region->buffer
                                                 : x->offset < y->offset;
}

static bool in_order(const struct machine_stored_bytes *stores, uint32_t count) {
   bool ordered = true;
   for (uint32_t n = 1; n < count && ordered; n++)
      ordered = is_before(&stores[n - 1], &stores[n]);
   return ordered;
}

/* Counts each byte that the block stored once, however often the block stored it.  False without memory. */
static bool count_once(machine_run_t *run, const struct machine_stored_bytes *stores, uint32_t count,
                       rkb_machine_extent_t *extents) {
   struct machine_stored_bytes *sorted = NULL;
   if (!in_order(stores, count)) {
      sorted = malloc(2 * (size_t)count * sizeof *sorted);
      if (!sorted)
         return false;
      stores =
         machine_sort_stored(stores, count, (struct machine_stored_bytes *const[]){sorted, sorted + count});
   }
   uint64_t end = 0;
   for (uint32_t n = 0; n < count; n++) {
      if (n == 0 || stores[n].region != stores[n - 1].region)
         end = 0;
      const uint64_t first = stores[n].offset > end ? stores[n].offset : end,
                     behind = stores[n].offset + stores[n].bytes;
      if (behind > first)
         extents[stores[n].region->buffer].once += behind - first;
      end = behind > end ? behind : end;
   }
   const bool kept = machine_stored_runs_keep(run, stores, count);
   free(sorted);
   return kept;
}

/* Takes up all stores of the block when it has ended.  Only then can words that other blocks stored be told
 * from words that this block stored twice. */
static void take_stores(machine_run_t *run) {
   const uint32_t launch = run->place >> PLACE_BITS, place = run->place & MOST_PLACES;
   rkb_machine_extent_t *extents = run->extents[launch] && place < run->extent_places[launch]
                                      ? &run->extents[launch][(uint64_t)place * run->plan->buffer_count]
                                      : NULL;
   for (uint32_t n = 0; n < run->block_store_count; n++)
      *(extents ? &extents[run->block_stores[n].region->buffer].again : &run->report.stored_again) +=
         stored_before(&run->block_stores[n]);
   if (extents && !count_once(run, run->block_stores, run->block_store_count, extents))
      run->out_of_memory = run->stop = true;
   for (uint32_t n = 0; n < run->block_store_count; n++) {
      const struct machine_stored_bytes *stores = &run->block_stores[n];
      const uint64_t first = (stores->offset + 3) / 4, end = (stores->offset + stores->bytes) / 4;
      set_all(stores->region->stored, stores->offset / 4, (stores->offset + stores->bytes - 1) / 4 + 1);
      for (uint64_t word = all_hold_values(stores->region, first, end) ? end : first; word < end; word++)
         if (was_added(stores->region, word))
            set(stores->region->added, word);
      stores->region->any_stored = true;
   }
}

/* Keeps, for each launch, the stores of the block that wrote most.  Other blocks mostly write the same
 * pattern elsewhere. */
static void keep_pattern(machine_run_t *run) {
   machine_pattern_t *pattern = &run->patterns[run->place >> PLACE_BITS];
   const uint64_t bytes = bytes_in(run->block_stores, run->block_store_count);
   if (bytes <= pattern->bytes)
      return;
   const machine_pattern_t before = *pattern;
   *pattern = (machine_pattern_t){.stores = run->block_stores,
                                  .count = run->block_store_count,
                                  .room = run->block_store_room,
                                  .place = run->place & MOST_PLACES,
                                  .bytes = bytes};
   run->block_stores = before.stores;
   run->block_store_room = before.room;
}

/* The bytes that the block stored have no value. */
static void forget_stores(const machine_run_t *run) {
   for (uint32_t n = 0; n < run->block_store_count; n++) {
      const struct machine_stored_bytes *stored = &run->block_stores[n];
      if (stored->region->defined)
         memset(stored->region->defined + stored->offset, 0, stored->bytes);
   }
}

/* After a block that may do options.block_work. */
static void end_cut_block(machine_run_t *run) {
   rkb_machine_extent_t *place = place_of(run, run->place >> PLACE_BITS, run->place & MOST_PLACES);
   forget_stores(run);
   if (place)
      place->again = run->cut;
   if (run->cut && !run->out_of_memory)
      run->stop = false;
   run->cut = false;
}

void machine_partial_block(machine_run_t *run) {
   take_stores(run);
   if (run->stop && run->unfinished && !run->out_of_memory && only_lacked_values(run)) {
      forget_stores(run);
      run->stop = false;
   }
   if (run->options.block_work)
      end_cut_block(run);
   keep_pattern(run);
   run->block_store_count = 0;
}
