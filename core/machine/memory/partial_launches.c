/* The memory after a launch of which some blocks were not executed: which words are as all blocks would leave them, which block wrote which
 * words, and which words that were not final a block read.  Only in machines that fetch their inputs and keep definedness.
 *
 * On a device, blocks run in any order.  So the machine may execute the blocks of the sample first, one after the other: a device may do the same.
 * A word that one of them stored is final: no other block of the launch may store it without a race.  A word that an atomic operation changed is
 * not final until all blocks that change it have done so; until the launch ends, it has a value that a block may read on a device.  Unexecuted
 * blocks may have written the other words of a buffer that the launch writes, so after the launch only the words that the executed blocks wrote
 * are known.  On the machine's thread. */
#include "machine/memory/partial_launches.h"
#include "machine/memory/stored_runs.h"
#include "machine/memory/ticket_words.h"
#include "machine/state/block_paths.h"
#include "machine/state/keyed_sum.h"

#include <stdlib.h>

static uint64_t bitmap_bytes(const machine_region_t *region) {
   return (words_of(region) / 64 + 1) * sizeof(uint64_t);
}

static uint64_t pieces_bytes(const machine_region_t *region) {
   return (words_of(region) / PIECE_WORDS / 64 + 1) * sizeof(uint64_t);
}

bool machine_partial_lay_out(machine_run_t *run) {
   const uint32_t count = run->plan->launch_count;
   if (!run->options.fetch || run->options.counts_only)
      return true;
   run->extents = calloc(count + 1, sizeof *run->extents);
   run->extent_places = calloc(count + 1, sizeof *run->extent_places);
   run->patterns = calloc(count + 1, sizeof *run->patterns);
   run->tickets = calloc(count + 1, sizeof *run->tickets);
   if (!run->extents || !run->extent_places || !run->patterns || !run->tickets)
      return false;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      machine_region_t *region = &run->regions[n];
      if (region->read_only)
         continue;
      region->stored = (uint64_t *)(void *)rkb_machine_sparse(bitmap_bytes(region), &run->huge_left);
      region->added = (uint64_t *)(void *)rkb_machine_sparse(bitmap_bytes(region), &run->huge_left);
      region->wanted = (uint64_t *)(void *)rkb_machine_sparse(bitmap_bytes(region), &run->huge_left);
      region->wanted_pieces = (uint64_t *)(void *)rkb_machine_sparse(pieces_bytes(region), &run->huge_left);
      if (!region->stored || !region->added || !region->wanted || !region->wanted_pieces)
         return false;
   }
   return true;
}

void machine_partial_free(machine_run_t *run) {
   for (uint32_t n = 0; run->regions && n < run->region_count; n++) {
      const machine_region_t *region = &run->regions[n];
      rkb_machine_sparse_free(region->stored, bitmap_bytes(region));
      rkb_machine_sparse_free(region->added, bitmap_bytes(region));
      rkb_machine_sparse_free(region->wanted, bitmap_bytes(region));
      rkb_machine_sparse_free(region->wanted_pieces, pieces_bytes(region));
   }
   for (uint32_t n = 0; run->extents && n < run->plan->launch_count; n++)
      free(run->extents[n]);
   for (uint32_t n = 0; run->patterns && n < run->plan->launch_count; n++)
      free(run->patterns[n].stores);
   free(run->patterns);
   free(run->tickets);
   free(run->extents);
   free(run->extent_places);
   free(run->block_stores);
   machine_stored_runs_free(run);
}

/* A launch ------------------------------------------------------------------------------------------------------------ */

static void forget_stored(machine_region_t *region) {
   if (region->any_stored) /* a network has hundreds of buffers, and a launch writes few of them */
      for (uint32_t n = 0; n < 2; n++)
         machine_sparse_clear(n ? region->added : region->stored, bitmap_bytes(region));
   region->any_stored = false;
}

void machine_partial_begin(machine_launch_t *launch, uint64_t count, bool whole) {
   machine_run_t *run = launch->run;
   const uint32_t number = launch->number;
   if (!run->extents)
      return;
   run->unfinished = !whole;
   run->block_store_count = 0; /* blocks that ran side by side may have left theirs */
   for (uint32_t n = 0; n < run->plan->buffer_count; n++)
      if (run->regions[n].stored)
         forget_stored(&run->regions[n]);
   free(run->extents[number]);
   run->extents[number] = NULL;
   run->extent_places[number] = 0;
   if (whole || count > MOST_PLACES)
      return;
   run->extents[number] = calloc(count * (run->plan->buffer_count + 1) + 1,
                                 sizeof **run->extents); /* behind all extents: the path of each place */
   run->extent_places[number] = run->extents[number] ? (uint32_t)count : 0;
   if (run->options.stored_runs && !machine_stored_runs_begin(run, number, run->extent_places[number]))
      run->out_of_memory = run->stop = true;
}

/* A block's path: a number for the list of the basic blocks that any of its warps came to, however often.  Paths decide which blocks are judged, so an
 * author must not be able to give two paths one number. */
void machine_partial_path(machine_run_t *run, uint32_t basic_blocks, uint64_t *passed) {
   const uint64_t key = keyed_sum_key(run->options.path_key);
   uint64_t sum = 0;
   for (uint32_t n = 0; n < basic_blocks; n++) {
      if (run->counts.block_warps[n] != passed[n])
         sum = keyed_sum(key, sum, n + 1);
      passed[n] = run->counts.block_warps[n];
   }
   rkb_machine_extent_t *place = place_of(run, run->place >> PLACE_BITS, run->place & MOST_PLACES);
   if (place)
      place->words = sum + 1; /* 0: not known */
}

void machine_partial_instructions(machine_run_t *run, uint64_t instructions) {
   rkb_machine_extent_t *place = place_of(run, run->place >> PLACE_BITS, run->place & MOST_PLACES);
   if (place)
      place->bytes = instructions;
}

void machine_partial_waits(machine_launch_t *launch, uint64_t place) {
   rkb_machine_extent_t *known =
      place < MOST_PLACES ? place_of(launch->run, launch->number, (uint32_t)place) : NULL;
   if (known)
      known->again = 1;
}

static bool is_output(const machine_run_t *run, const machine_region_t *region) {
   const uint32_t role = run->plan->buffers[region->buffer].role;
   return role == RKB_OUT || role == RKB_INOUT;
}

/* Makes all words of a piece unknown that executed blocks did not store.  For a piece without unfinished atomic operations, after a launch of
 * which not all blocks were executed. */
static void forget_others(machine_region_t *region, uint64_t first, uint64_t end) {
   const uint64_t stored = region->stored[first / 4 / 64]; /* a piece has as many words as these bits */
   if (stored == 0)
      memset(region->defined + first, 0, end - first);
   for (uint64_t at = first; stored != 0 && stored != UINT64_MAX && at < end; at += 4)
      if (!is_set(region->stored, at / 4))
         memset(region->defined + at, 0, end - at < 4 ? end - at : 4);
}

static void settle_piece(const machine_run_t *run, machine_region_t *region, uint64_t first, uint64_t end,
                         bool whole) {
   const uint64_t *settled = run->options.settled ? run->options.settled[region->buffer] : NULL;
   if (!memchr(region->defined + first, ATOMIC_UNFINISHED, end - first)) {
      if (!whole)
         forget_others(region, first, end);
      return;
   }
   for (uint64_t at = first; at < end; at += 4) {
      const uint64_t bytes = end - at < 4 ? end - at : 4, word = at / 4;
      if (!is_set(region->stored, word)) {
         if (!whole)
            memset(region->defined + at, 0, bytes);
         continue;
      }
      const bool final = whole || (settled && is_set(settled, word));
      for (uint64_t n = at; n < at + bytes; n++) {
         if (region->defined[n] != ATOMIC_UNFINISHED)
            continue;
         region->defined[n] = final;
         if (!final && is_output(run, region)) /* in other buffers, words are wanted when they are read */
            want(region, word);
      }
   }
}

/* Whether the launch's blocks write to the buffer in whole runs.  Buffers from 63 on share one bit.  If that bit is set, the answer is true for
 * those of them that the launch takes.  If the launch takes none of them, it has its pointers from elsewhere, and the answer is true for all of
 * them. */
static bool known_to_store(const rkb_plan_launch_t *launch, uint64_t known, uint32_t buffer) {
   bool others = false;
   if (buffer < 63 || !(known >> 63))
      return known >> (buffer < 63 ? buffer : 63) & 1;
   for (uint32_t n = 0; n < launch->argument_count; n++) {
      if (launch->arguments[n].buffer == buffer)
         return true;
      others |= launch->arguments[n].buffer >= 63 && launch->arguments[n].buffer != UINT32_MAX;
   }
   return !others;
}

void machine_partial_forget(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   const uint64_t known = run->options.stores ? run->options.stores[launch->number] : UINT64_MAX;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      machine_region_t *region = &run->regions[n];
      if (!region->stored || !region->defined || !known_to_store(&run->plan->launches[launch->number], known, n))
         continue;
      for (uint64_t piece = 0; (piece = machine_next_met(region, piece)) << PIECE_SHIFT < region->bytes; piece++) {
         const uint64_t first = piece << PIECE_SHIFT, left = region->bytes - first, whole = 1u << PIECE_SHIFT;
         memset(region->defined + first, 0, left < whole ? left : whole);
      }
      region->stale = true;
   }
}

void machine_partial_end(machine_launch_t *launch, bool whole) {
   machine_run_t *run = launch->run;
   const uint64_t known = run->options.stores ? run->options.stores[launch->number] : 0;
   if (!run->extents)
      return;
   for (uint32_t n = 0; n < run->plan->buffer_count; n++) {
      machine_region_t *region = &run->regions[n];
      if (!region->stored || !region->defined ||
          !(region->written || known_to_store(&run->plan->launches[launch->number], known, n)))
         continue;
      for (uint64_t piece = 0; (piece = machine_next_met(region, piece)) << PIECE_SHIFT < region->bytes;
           piece++) {
         const uint64_t first = piece << PIECE_SHIFT, end = first + (1u << PIECE_SHIFT);
         settle_piece(run, region, first, end < region->bytes ? end : region->bytes, whole);
      }
      region->stale |= !whole;
   }
   for (uint32_t n = run->plan->buffer_count; n < run->region_count; n++)
      run->regions[n].unfinished |= !whole && run->regions[n].written;
   run->unfinished = run->moving = false;
}

/* Afterwards ------------------------------------------------------------------------------------------------------------ */

bool rkb_machine_ended(const rkb_machine_t *machine, uint32_t launch, uint32_t place) {
   const rkb_machine_extent_t *known = place_of(&machine->run, launch, place);
   return known && !known->again;
}

bool rkb_machine_waited(const rkb_machine_t *machine, uint32_t launch, uint32_t place) {
   const rkb_machine_extent_t *known = place_of(&machine->run, launch, place);
   return known && known->again;
}

bool rkb_machine_extent(const rkb_machine_t *machine, uint32_t launch, uint32_t place, uint32_t buffer,
                        rkb_machine_extent_t *extent) {
   const machine_run_t *run = &machine->run;
   if (!run->extents || !run->extents[launch] || place >= run->extent_places[launch])
      return false;
   *extent = run->extents[launch][(uint64_t)place * run->plan->buffer_count + buffer];
   return extent->words != 0;
}

uint64_t rkb_machine_path(const rkb_machine_t *machine, uint32_t launch, uint32_t place) {
   const rkb_machine_extent_t *known = place_of(&machine->run, launch, place);
   return known ? known->words : 0;
}

uint64_t rkb_machine_block_instructions(const rkb_machine_t *machine, uint32_t launch, uint32_t place) {
   const rkb_machine_extent_t *known = place_of(&machine->run, launch, place);
   return known ? known->bytes : 0;
}

bool rkb_machine_pattern(const rkb_machine_t *machine, uint32_t launch, uint32_t buffer, uint32_t *place,
                         void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument) {
   const machine_run_t *run = &machine->run;
   const machine_pattern_t *pattern = run->patterns ? &run->patterns[launch] : NULL;
   bool any = false;
   for (uint32_t n = 0; pattern && n < pattern->count; n++)
      if (pattern->stores[n].region->buffer == buffer) {
         visit(argument, pattern->stores[n].offset, pattern->stores[n].bytes);
         any = true;
      }
   *place = any ? pattern->place : 0;
   return any;
}

/* How many words, from this one on, are sure not to be wanted.  Looks at pieces first, because a region of
 * gigabytes has many words. */
static uint64_t skipped_words(const machine_region_t *region, uint64_t word) {
   const uint64_t piece = word / PIECE_WORDS;
   if (word % (64 * PIECE_WORDS) == 0 && !region->wanted_pieces[piece / 64])
      return 64 * PIECE_WORDS;
   if (word % PIECE_WORDS == 0 && !is_set(region->wanted_pieces, piece))
      return PIECE_WORDS;
   return word % 64 == 0 && !region->wanted[word / 64] ? 64 : 0;
}

void rkb_machine_wanted(const rkb_machine_t *machine, uint32_t buffer,
                        void (*visit)(void *argument, uint64_t first, uint64_t bytes), void *argument) {
   const machine_region_t *region = &machine->run.regions[buffer];
   const uint64_t words = words_of(region);
   for (uint64_t word = 0; region->wanted && word < words;) {
      const uint64_t skipped = skipped_words(region, word);
      if (skipped) {
         word += skipped;
         continue;
      }
      const uint64_t first = word;
      while (word < words && is_set(region->wanted, word))
         word++;
      if (word > first)
         visit(argument, first * 4, (word - first) * 4);
      else
         word++;
   }
}

uint64_t rkb_machine_stored(const rkb_machine_t *machine, uint32_t launch) {
   return machine->run.stored[launch];
}
