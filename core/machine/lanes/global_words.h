/* Loads and stores of 4-byte words (words.h) at generic, global or local addresses.  Global memory that is written keeps 64-bit records of who
 * wrote and read each word (races.h).  This file records the accesses of 32 lanes at once, when all earlier accesses are ordered before them.
 * Accesses that are not plain (a fault, a conflict, an order that only releases and acquisitions give, a part of a word) are left, untouched, to
 * the code that handles lane by lane and reports them. */
#ifndef RKB_MACHINE_LANES_GLOBAL_WORDS_H
#define RKB_MACHINE_LANES_GLOBAL_WORDS_H

#include "machine/in_flight/copies.h"
#include "machine/in_flight/copy_sources.h"
#include "machine/in_flight/grid_dependency.h"
#include "machine/lanes/shared_words.h"

/* Who read and who wrote ------------------------------------------------------------------------------------------- */

typedef struct global_order { /* what names in records are compared with */
   uint64_t first;            /* names below are of an earlier launch */
   uint64_t block;            /* of this block: names from here to the end of it */
   uint64_t since;            /* names of this block below are before its last barrier */
   uint64_t me;               /* of lane 0, this lane's is so much more */
} global_order_t;

static inline global_order_t order_of(const machine_warp_t *warp) {
   const machine_block_t *block = warp->block;
   const uint64_t own = (block->serial + 1) << NAME_BLOCK_SHIFT;
   return (global_order_t){.first = (block->launch->first_serial + 1) << NAME_BLOCK_SHIFT,
                           .block = own,
                           .since = own | (uint64_t)(block->barrier_time & MOST_NAME_TIME) << NAME_TIME_SHIFT,
                           .me = machine_global_name(warp, 0, false)};
}

#define THREAD_OF(name) ((name)&MANY_THREADS)

/* All ones if the access recorded under a name comes before what the lane does now, by launches, by barriers or because the lane made that access
 * itself. */
static inline uint64_t comes_before(const global_order_t *order, uint64_t name, uint64_t me) {
   const bool own = name >= order->block && machine_name_block(name) == machine_name_block(order->block);
   return 0 - (uint64_t)(name < order->first ||
                         (own && (name < order->since || THREAD_OF(name) == THREAD_OF(me))));
}

/* Returns the record of a word's readers after `me` has read it.  It equals what join_readers in races.c returns where nothing was acquired. */
static inline uint64_t joined(const global_order_t *order, uint64_t old, uint64_t me) {
   const uint64_t many_blocks = (me & ~MANY_THREADS) | MANY_BLOCKS;
   const bool older = old < order->first, many = THREAD_OF(old) == MANY_BLOCKS,
              other = machine_name_block(old) != machine_name_block(order->block),
              alone = old < order->since || THREAD_OF(old) == THREAD_OF(me);
   return older ? me : many || other ? many_blocks : alone ? me : me | MANY_THREADS;
}

static inline void gather_records(uint64_t out[LANES], const uint64_t *records, const words_t *to) {
   if (to->shape == WORDS_GROUPED) {
      for (int g = 0; g < GROUPS; g++) {
         const uint64_t *at = records + (to->offset[GROUP * g] >> 2), one = *at;
         if (to->equal[g])
            for (int l = 0; l < GROUP; l++)
               out[GROUP * g + l] = one;
         else
            memcpy(out + GROUP * g, at, GROUP * sizeof *out);
      }
   } else {
      for (int l = 0; l < LANES; l++)
         out[l] = records[to->offset[l] >> 2];
   }
}

/* Writes the lanes' records; false when a lane then finds another lane's record, because both are at one word. */
static inline bool scatter_names(uint64_t *records, const words_t *to, uint32_t mask,
                                 const uint64_t after[LANES]) {
   uint64_t different = 0;
   for (uint32_t l = 0; l < LANES; l++)
      if (mask >> l & 1)
         records[to->offset[l] >> 2] = after[l];
   for (uint32_t l = 0; l < LANES; l++)
      if (mask >> l & 1)
         different |= records[to->offset[l] >> 2] ^ after[l];
   return different == 0;
}

/* All lanes at one word. */
static inline bool read_one(const global_order_t *order, const uint64_t *writer, uint64_t *reader,
                            uint32_t mask) {
   const uint64_t me = order->me + (uint32_t)__builtin_ctz(mask);
   const bool several = (mask & (mask - 1)) != 0;
   if (!comes_before(order, *writer, several ? order->me | MANY_THREADS : me))
      return false;
   const uint64_t now = joined(order, *reader, me);
   *reader = !several || THREAD_OF(now) == MANY_BLOCKS ? now : now | MANY_THREADS;
   return true;
}

static inline bool read_words(const global_order_t *order, const uint64_t *writers, uint64_t *readers,
                              const words_t *to, uint32_t mask) {
   uint64_t before[LANES], after[LANES], late = 0;
   if (to->shape == WORDS_ONE)
      return read_one(order, writers + (to->offset[0] >> 2), readers + (to->offset[0] >> 2), mask);
   gather_records(before, writers, to);
   EACH_LANE late |= KEEP(~comes_before(order, before[l], order->me + (uint64_t)l), 0);
   if (late)
      return false;
   gather_records(before, readers, to);
   EACH_LANE after[l] = joined(order, before[l], order->me + (uint64_t)l);
   if (!scatter_names(readers, to, mask, after))
      for (uint32_t l = 0; l < LANES; l++) { /* several lanes at one word */
         uint64_t *now = &readers[to->offset[l] >> 2];
         if ((mask >> l & 1) && *now != after[l] && THREAD_OF(*now) != MANY_BLOCKS)
            *now |= MANY_THREADS;
      }
   return true;
}

/* Whether the lanes may write their words. */
static inline bool may_write(const global_order_t *order, const uint64_t *writers, const uint64_t *readers,
                             const words_t *to, uint32_t mask) {
   uint64_t writer[LANES], reader[LANES], late = 0;
   gather_records(writer, writers, to);
   gather_records(reader, readers, to);
   EACH_LANE {
      const uint64_t me = order->me + (uint64_t)l;
      const bool many = reader[l] >= order->first && THREAD_OF(reader[l]) == MANY_BLOCKS;
      late |= KEEP(
         ~comes_before(order, writer[l], me) | ~comes_before(order, reader[l], me) | (0 - (uint64_t)many), 0);
   }
   return late == 0;
}

/* Rows of words that no thread of this launch has accessed: the common case of an output. */
static inline bool write_rows(const global_order_t *order, uint64_t *writers, uint64_t *readers,
                              const words_t *to) {
   uint64_t touched = 0;
   for (int g = 1; g < GROUPS; g++) /* two groups at one word: not here */
      touched |= to->offset[GROUP * g] < to->offset[GROUP * (g - 1)] + 4 * GROUP;
   for (int g = 0; g < GROUPS; g++) {
      const uint64_t *writer = writers + (to->offset[GROUP * g] >> 2),
                     *reader = readers + (to->offset[GROUP * g] >> 2);
      for (int l = 0; l < GROUP; l++)
         touched |= (uint64_t)(writer[l] >= order->first) | (uint64_t)(reader[l] >= order->first);
   }
   if (touched)
      return false;
   for (int g = 0; g < GROUPS; g++) {
      uint64_t *writer = writers + (to->offset[GROUP * g] >> 2);
      for (int l = 0; l < GROUP; l++)
         writer[l] = order->me + (uint64_t)(GROUP * g + l);
      memset(readers + (to->offset[GROUP * g] >> 2), 0, GROUP * sizeof *readers);
   }
   return true;
}

/* Names the lanes as the writers of a word each, whose readers are forgotten; false, and nothing changed, when two are at one word. */
static inline bool write_names(const global_order_t *order, uint64_t *writers, uint64_t *readers,
                               const words_t *to, uint32_t mask) {
   uint64_t before[LANES], names[LANES];
   gather_records(before, writers, to);
   EACH_LANE names[l] = order->me + (uint64_t)l;
   const bool alone = scatter_names(writers, to, mask, names);
   for (uint32_t l = 0; l < LANES; l++)
      if ((mask >> l & 1) && alone)
         readers[to->offset[l] >> 2] = 0;
      else if (mask >> l & 1)
         writers[to->offset[l] >> 2] = before[l];
   return alone;
}

/* Records that the lanes read their words through the read-only path; false when a word of this launch was written. */
static inline bool read_only_words(const machine_warp_t *warp, const machine_instruction_t *i,
                                   machine_region_t *region, const words_t *to, uint32_t mask) {
   const uint64_t first = order_of(warp).first;
   const uint32_t name = machine_launch_name(warp);
   bool written = false;
   for (uint32_t l = 0; l < LANES; l++)
      for (uint32_t e = 0; (mask >> l & 1) && e < i->elements; e++) {
         const uint32_t word = (to->offset[l] >> 2) + e;
         written |= region->writers[word] >= first;
         region->read_only_path[word] = name;
      }
   region->read_only_launch = name;
   return !written;
}

/* Records that the lanes read or write their words.  False when each lane must be looked at by itself; then nothing was recorded. */
static inline bool record_global(machine_warp_t *warp, const machine_instruction_t *i,
                                 machine_region_t *region, const words_t *to, uint32_t mask, bool store) {
   const global_order_t order = order_of(warp);
   uint64_t *writers = region->writers, *readers = region->readers;
   bool may = store ? !machine_was_read_only(warp, region)
                    : !(i->flags & FLAG_READ_ONLY) || (machine_read_only_records(warp->run, region) &&
                                                       read_only_words(warp, i, region, to, mask));
   if (may && store && i->elements == 1 && in_rows(to, mask) && write_rows(&order, writers, readers, to))
      return true;
   for (uint32_t e = 0; may && e < i->elements; e++)
      may = store
               ? may_write(&order, writers + e, readers + e, to, mask)
               : read_words(&order, writers + e, readers + e, to, mask); /* a second read adds nothing */
   for (uint32_t e = 0; may && store && e < i->elements; e++) /* lanes that meet do so at the first word */
      may = write_names(&order, writers + e, readers + e, to, mask);
   return may;
}

/* Where they are ------------------------------------------------------------------------------------------------------- */

/* Offsets from base on of the lanes of mask; false when one of them is outside, not aligned, or at a place too far to be told in
 * 32 bits.  Lanes of local memory are apart by so many bytes, each within its own. */
static inline bool find_offsets(words_t *to, const uint64_t *address, uint32_t mask, uint64_t base,
                                uint64_t size, uint32_t bytes, uint64_t apart, uint32_t first_thread) {
   const uint64_t first = address[__builtin_ctz(mask)], last = size - bytes;
   uint64_t outside = 0, low = 0;
   if (size < bytes || size > UINT32_MAX || (base & 3))
      return false;
   EACH_LANE {
      const uint64_t at = KEEP(address[l], first), offset = at - base;
      outside |= offset | (last - offset);
      low |= at;
      to->offset[l] = (uint32_t)offset;
   }
   if (outside >> 63 || (low & (bytes - 1)))
      return false;
   if (apart) {
      EACH_LANE to->offset[l] += (first_thread + (uint32_t)l) * (uint32_t)apart;
      const uint32_t one = to->offset[__builtin_ctz(mask)];
      EACH_LANE to->offset[l] = KEEP(to->offset[l], one);
   }
   return true;
}

/* The same for words, whose shape is found too. */
static inline bool find_word_offsets(words_t *to, const uint64_t *address, uint32_t mask, uint64_t base,
                                     uint64_t size, uint32_t bytes, uint64_t apart, uint32_t first_thread) {
   if (!find_offsets(to, address, mask, base, size, bytes, apart, first_thread))
      return false;
   find_shape(to, bytes);
   return true;
}

/* Makes the pieces that the lanes read or write (machine_meet).  A load from a piece that exists changes nothing, unless words that were read
 * early are noted (`wanted`). */
static inline void meet_lanes(machine_run_t *run, machine_region_t *region, const words_t *to, uint32_t mask,
                              uint64_t origin, uint32_t bytes, bool store) {
   if (!region->met)
      return;
   const bool every = store || region->wanted, joins = bytes % 4 == 0; /* words are counted lane by lane */
   for (uint32_t left = mask, lane; left; left &= left - 1) {
      const uint64_t offset = origin + to->offset[lane = (uint32_t)__builtin_ctz(left)],
                     piece = offset >> PIECE_SHIFT;
      uint32_t all = bytes;
      for (; every && joins && left & 2u << lane && to->offset[lane + 1] == to->offset[lane] + bytes;
           lane++) {
         left &= left - 1; /* the next lane goes on where this one ends */
         all += bytes;
      }
      if (every || !machine_is_met(region, piece) || (offset + bytes - 1) >> PIECE_SHIFT != piece)
         machine_meet(run, region, offset, all, store);
   }
}

/* Changes the offsets to the places of the lanes' bytes in the data of a packed input, after it has made their pieces.  An access is aligned, so
 * that it lies in one piece.  False where a place needs more than 32 bits: the last piece of an input lies at the end of its data, and the input
 * may be larger. */
static inline bool place_lanes(machine_run_t *run, machine_region_t *region, words_t *from, uint64_t origin,
                               uint32_t bytes) {
   const uint32_t within = (1u << PIECE_SHIFT) - 1;
   uint32_t apart = 0, beyond = 0;
   EACH_LANE apart |= from->offset[l] ^ from->offset[0];
   if (apart <= within) {
      const uint64_t piece = (origin + from->offset[0]) >> PIECE_SHIFT;
      if (!machine_is_met(region, piece))
         machine_meet(run, region, origin + from->offset[0], bytes, false);
      const uint32_t place = region->places[piece];
      EACH_LANE from->offset[l] = place << PIECE_SHIFT | (from->offset[l] & within);
      return place >> (32 - PIECE_SHIFT) == 0;
   }
   for (int l = 0; l < LANES; l++) {
      const uint64_t offset = origin + from->offset[l], piece = offset >> PIECE_SHIFT;
      if (!machine_is_met(region, piece))
         machine_meet(run, region, offset, bytes, false);
      const uint32_t place = region->places[piece];
      beyond |= place >> (32 - PIECE_SHIFT);
      from->offset[l] = place << PIECE_SHIFT | ((uint32_t)offset & within);
   }
   return beyond == 0;
}

/* Offsets of 32 bits reach all of a region; in a larger region they reach what lies from *origin on. */
static inline bool find_in_region(words_t *to, const machine_region_t *region, const uint64_t *address,
                                  uint32_t mask, uint32_t bytes, uint64_t *origin) {
   const uint64_t offset = address[__builtin_ctz(mask)] - region->base, half = UINT64_C(1) << 31;
   *origin = 0;
   if (region->bytes <= UINT32_MAX)
      return find_offsets(to, address, mask, region->base, region->bytes, bytes, 0, 0);
   *origin = offset & ~(half - 1);
   const uint64_t left = region->bytes - *origin;
   return offset < region->bytes && find_offsets(to, address, mask, region->base + *origin,
                                                 left < UINT32_MAX ? left : UINT32_MAX, bytes, 0, 0);
}

/* Fills in where the words that find_in_region found are kept; those of a packed input are at their places. */
static inline bool use_region(machine_run_t *run, machine_region_t *region, words_t *to, uint32_t mask,
                              uint64_t origin, uint32_t bytes, bool store) {
   to->taint = &region->taint;
   to->data = region->data;
   to->defined = region->defined;
   to->shadow = region->shadow;
   if (region->places)
      return place_lanes(run, region, to, origin, bytes);
   meet_lanes(run, region, to, mask, origin, bytes, store);
   to->data += origin;
   to->defined = to->defined ? to->defined + origin : NULL;
   to->shadow = to->shadow ? to->shadow + (origin >> 2) : NULL;
   return true;
}

static inline bool find_global(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               const uint64_t *address, bool store, words_t *to) {
   machine_run_t *run = warp->run;
   machine_region_t *region = machine_region_at(run, address[__builtin_ctz(mask)]);
   const uint32_t bytes = 4u * i->elements;
   uint64_t origin;
   const bool recorded = run->races && region && !region->read_only;
   if (!region || region->renewed || (region->read_only && store) ||
       (recorded &&
        (region->bytes > UINT32_MAX || warp->block->acquired_count ||
         (store && machine_copies_have_sources(warp->block)) ||
         (store ? machine_copy_sources_kept(warp->block) : machine_copy_destinations_kept(warp->block)) ||
         warp->block->launch->global_shift != 2 || !machine_grid_all_known(warp, mask) ||
         !machine_global_records(run, region))) ||
       !find_in_region(to, region, address, mask, bytes, &origin))
      return false;
   region->written |= store;
   if (!use_region(run, region, to, mask, origin, bytes, store))
      return false;
   find_shape(to, bytes);
   return !recorded || record_global(warp, i, region, to, mask, store);
}

static inline bool find_local(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address, words_t *to) {
   machine_run_t *run = warp->run;
   const uint64_t apart = warp->program->frame_bytes;
   if ((apart & 3) || apart > UINT32_MAX / 1024 /* threads of a block */ ||
       !find_word_offsets(to, address, mask, WINDOW_LOCAL << WINDOW_SHIFT, apart, 4u * i->elements, apart,
                          warp->first_thread))
      return false;
   to->data = run->local;
   to->defined = run->local_defined;
   to->shadow = run->local_shadow;
   to->taint = &run->local_taint;
   return true;
}

static inline bool find_generic_shared(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                       const uint64_t *address, bool store, words_t *to) {
   const machine_block_t *block = warp->block;
   if ((i->space != PTX_SHARED && i->space != PTX_GENERIC) || block->races == RACES_CLOCKS ||
       block->cluster.blocks > 1 ||
       !find_word_offsets(to, address, mask, WINDOW_SHARED << WINDOW_SHIFT, block->shared_bytes,
                          4u * i->elements, 0, 0))
      return false;
   use_shared(warp, to);
   return record_shared(warp, i, to, mask, store);
}

/* Finds the words and records that they are read or written; false when each lane must be looked at by itself. */
static inline bool find_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address, bool store, words_t *to) {
   const uint64_t window = address[__builtin_ctz(mask)] >> WINDOW_SHIFT;
   const uint32_t ordering = FLAG_RELAXED | FLAG_VOLATILE | (store ? FLAG_RELEASE : FLAG_ACQUIRE);
   if (!moves_words(warp, i) || (warp->run->races && (i->flags & ordering)))
      return false;
   return window == 0               ? find_global(warp, i, mask, address, store, to)
          : window == WINDOW_SHARED ? find_generic_shared(warp, i, mask, address, store, to)
          : window == WINDOW_LOCAL  ? find_local(warp, i, mask, address, to)
                                    : false;
}

static inline bool load_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                              const uint64_t *address) {
   words_t from;
   if (!find_words(warp, i, mask, address, false, &from))
      return false;
   take_words(warp, i, mask, &from);
   return true;
}

/* Unsigned numbers of one or two bytes of global memory of which no readers are recorded: of an input, or in a run that looks for no races. */
static inline bool load_narrow_global(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                      const uint64_t *address) {
   machine_run_t *run = warp->run;
   const uint64_t one = address[__builtin_ctz(mask)];
   machine_region_t *region = one >> WINDOW_SHIFT == 0 ? machine_region_at(run, one) : NULL;
   const uint32_t bytes = (uint32_t)i->element_bytes * i->elements;
   uint64_t origin;
   words_t from;
   if (!region || region->renewed || ptx_type_is_signed(i->type) || !moves_narrow(warp, i) ||
       (run->races && (!region->read_only || (i->flags & (FLAG_ACQUIRE | FLAG_RELAXED | FLAG_VOLATILE)))) ||
       !find_in_region(&from, region, address, mask, bytes, &origin) ||
       !use_region(run, region, &from, mask, origin, bytes, false))
      return false;
   take_narrow(warp, i, mask, &from);
   return true;
}

/* Whether all values that the lanes store are defined; or whether undefined ones may be stored because the region's first undefined store is kept
 * already (machine_undefined_store). */
static inline bool stores_global(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                 const uint64_t *address) {
   if (stores_values(warp, i, mask))
      return true;
   const uint64_t one = address[__builtin_ctz(mask)];
   const machine_region_t *region =
      leaves_undefined(warp) && one >> WINDOW_SHIFT == 0 ? machine_region_at(warp->run, one) : NULL;
   return region && region->undefined_store;
}

/* Whether the values that the lanes store to global memory are not needed.  This is so if the run has no values (options.no_values) and the values
 * depend on inputs, if the run computes no values at all (options.stores_alone), or if some elements are asked for (options.asked) and no lane
 * has a value.  If such a value decided something later, a run with options.no_values would end, and a run with options.asked would have a finding.
 * Then only the place of the store is noted, because touching a page of an output costs as much as computing it. */
static inline bool stores_no_values(const machine_warp_t *warp, const machine_instruction_t *i,
                                    uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool from_inputs = warp->run->options.no_values && warp->taint;
   for (uint32_t e = 0; from_inputs && e < i->elements; e++)
      from_inputs = machine_unasked(warp->run, warp->taint[parts[e].number]);
   return from_inputs || warp->run->options.stores_alone ||
          (warp->run->options.asked && stores_undefined(warp, i, mask));
}

static inline bool store_words(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               const uint64_t *address) {
   words_t to;
   if (!stores_global(warp, i, mask, address) || !find_words(warp, i, mask, address, true, &to))
      return false;
   if (address[__builtin_ctz(mask)] >> WINDOW_SHIFT == 0 && stores_no_values(warp, i, mask))
      to.data = NULL;
   put_words(warp, i, mask, &to);
   return true;
}

/* Stores parts of one or two bytes, in a run that does not record who wrote them before. */
static inline bool store_narrow_parts(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                      const uint64_t *address) {
   machine_run_t *run = warp->run;
   const uint32_t bytes = i->element_bytes;
   const uint64_t one = address[__builtin_ctz(mask)];
   machine_region_t *region = one >> WINDOW_SHIFT == 0 ? machine_region_at(run, one) : NULL;
   words_t to;
   uint64_t origin;
   if (run->races || !moves_narrow(warp, i) || !stores_global(warp, i, mask, address) || !region ||
       region->renewed || region->read_only ||
       !find_in_region(&to, region, address, mask, bytes * i->elements, &origin))
      return false;
   region->written = true;
   if (!use_region(run, region, &to, mask, origin, bytes * i->elements, true))
      return false;
   if (stores_no_values(warp, i, mask))
      to.data = NULL;
   put_narrow(warp, i, mask, &to);
   return true;
}

#endif
