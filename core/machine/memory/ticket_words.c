/* Words from which blocks draw numbers: a block adds to the word by an atomic operation, and what it does depends on the sum that it found there.
 * The blocks of a sample draw the first numbers, so they do not show what happens with later ones.  The word can be moved on for blocks that are not
 * executed: on a device, these blocks may have run before.  If every executed block adds as much to the word as every other, it is known by how much.
 * If not, the word is moved on by the executed blocks' mean, and a launch may never get there (later_numbers.c).
 *
 * A compare-and-swap draws too, if each one that changes the word adds the same to it.  A block may load such a word before it swaps, and gets what the
 * blocks before it left there, as an atomic addition of 0 would get it.  If the block loads it again and again and draws nothing, it waits for other
 * blocks, and the word holds no value for it.
 *
 * In a launch whose words are moved, blocks find in memory what a device may have left there when other blocks have run.  Of that the machine knows
 * these words, the launch's inputs, and what executed blocks stored.  All else that blocks of the launch may have changed holds no value.  So a block
 * that needs it ends with a finding that says so, as in partial_launches.c, and nothing of that block counts.  On the machine's thread. */
#include "machine/memory/ticket_words.h"
#include "machine/memory/partial_launches.h"

#include <string.h>

/* A block that loads the word so often without drawing from it waits for other blocks. */
#define MOST_LOOKS 1024u
/* Of so many executed blocks one has to draw from a word.  Few blocks have a word in common that only counts the parts of a row. */
#define LEAST_SHARE 8u

static uint64_t sum_of(const rkb_machine_ticket_t *word, uint64_t from, int64_t added) {
   const uint64_t sum = word->wraps ? (from + (uint64_t)added) % (word->limit + 1) : from + (uint64_t)added;
   return word->bytes == 8 ? sum : sum & UINT32_MAX;
}

static uint64_t value_of(const machine_ticket_word_t *word) {
   uint64_t value = 0;
   memcpy(&value, word->region->data + word->known.offset, word->known.bytes);
   return value;
}

/* A difference of two numbers of so many bytes. */
static int64_t signed_of(uint64_t difference, uint32_t bytes) {
   return bytes == 8 ? (int64_t)difference : (int32_t)(uint32_t)difference;
}

/* Whether these operations may be draws: whole numbers, added or swapped. */
static bool draws(const struct machine_drawing *d) {
   return (d->operation == ATOMIC_ADD || d->operation == ATOMIC_INC || d->operation == ATOMIC_CAS) &&
          !ptx_type_is_float(d->type) && (d->bytes == 4 || d->bytes == 8);
}

/* What the operation adds to the word. */
static int64_t added_by(const struct machine_drawing *d) {
   return d->operation == ATOMIC_INC   ? 1
          : d->operation == ATOMIC_CAS ? signed_of(d->left - d->old, d->bytes)
                                       : signed_of(d->value, d->bytes);
}

static machine_ticket_word_t *find(machine_tickets_t *tickets, const machine_region_t *region, uint64_t offset) {
   for (uint32_t n = 0; n < tickets->count; n++)
      if (tickets->words[n].region == region && tickets->words[n].known.offset == offset)
         return &tickets->words[n];
   return NULL;
}

/* The first draw from a word. */
static machine_ticket_word_t *begin(machine_run_t *run, machine_tickets_t *tickets, machine_region_t *region,
                                    uint64_t offset, const struct machine_drawing *d) {
   if (!d->used || !draws(d) || added_by(d) == 0)
      return NULL;
   if (tickets->count == RKB_MACHINE_TICKETS) {
      tickets->many |= d->operation != ATOMIC_CAS;
      return NULL;
   }
   machine_ticket_word_t *word = &tickets->words[tickets->count++];
   *word = (machine_ticket_word_t){.region = region,
                                   .known = {.region = (uint32_t)(region - run->regions),
                                             .bytes = d->bytes,
                                             .offset = offset,
                                             .blocks = tickets->blocks,
                                             .once = d->operation == ATOMIC_CAS ? added_by(d) : 0,
                                             .limit = d->value,
                                             .wraps = d->operation == ATOMIC_INC,
                                             .even = tickets->blocks == 0},
                                   .foreign = !d->known,
                                   .before = d->old};
   return word;
}

void machine_tickets_note(machine_run_t *run, machine_region_t *region, uint64_t offset,
                          const struct machine_drawing *d) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   machine_ticket_word_t *word = find(tickets, region, offset);
   const int64_t added = draws(d) ? added_by(d) : 0;
   if (!word && !(word = begin(run, tickets, region, offset, d)))
      return;
   const rkb_machine_ticket_t *known = &word->known;
   const bool swaps = d->operation == ATOMIC_CAS, wraps = d->operation == ATOMIC_INC;
   word->foreign |= !draws(d) || known->bytes != d->bytes || (known->once != 0) != swaps ||
                    known->wraps != wraps || (wraps && known->limit != d->value) ||
                    (swaps && added != 0 && added != known->once);
   word->added += added;
   word->looks = added ? 0 : word->looks + 1;
}

bool machine_tickets_look(machine_run_t *run, const machine_region_t *region, uint64_t offset,
                          uint32_t bytes) {
   machine_ticket_word_t *word = find(&run->tickets[run->launch->number], region, offset);
   if (!word || word->known.once == 0 || word->foreign || word->known.bytes != bytes)
      return false;
   for (uint32_t n = 0; region->defined && n < bytes; n++)
      if (region->defined[offset + n] != ATOMIC_UNFINISHED)
         return false;
   return ++word->looks <= MOST_LOOKS;
}

void machine_tickets_block(machine_run_t *run) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   for (uint32_t n = 0; n < tickets->count; n++) {
      machine_ticket_word_t *word = &tickets->words[n];
      const uint64_t left = value_of(word);
      word->foreign |= left != sum_of(&word->known, word->before, word->added);
      word->known.even &= tickets->blocks == 0 || word->added == word->each;
      word->known.added += word->added;
      word->known.blocks++;
      word->drawing += word->added != 0;
      word->each = word->added;
      word->before = left;
      word->added = 0;
      word->looks = 0;
   }
   tickets->blocks++;
}

/* In a launch whose words are moved ----------------------------------------------------------------------------------------- */

static const rkb_machine_moved_t *moved_in(const machine_run_t *run, uint32_t launch) {
   return run->options.moved && run->options.moved[launch].count ? &run->options.moved[launch] : NULL;
}

void machine_tickets_begin(machine_launch_t *launch) {
   machine_run_t *run = launch->run;
   machine_tickets_t *tickets = &run->tickets[launch->number];
   const rkb_machine_moved_t *moved = moved_in(run, launch->number);
   *tickets = (machine_tickets_t){.count = moved ? moved->count : 0, .blocks = moved != NULL};
   for (uint32_t n = 0; n < tickets->count; n++) {
      const rkb_machine_ticket_t *known = &moved->words[n];
      tickets->words[n] = (machine_ticket_word_t){.region = &run->regions[known->region],
                                                  .known = *known,
                                                  .each = known->added / (int64_t)known->blocks};
   }
   run->moving = moved != NULL;
   if (run->moving)
      machine_partial_forget(launch);
}

/* What so many other blocks add, as far as the executed ones tell. */
static int64_t share_of(const rkb_machine_ticket_t *word, uint64_t others) {
   return (int64_t)((__int128)word->added * (__int128)others / (__int128)word->blocks);
}

bool machine_tickets_move(machine_run_t *run, uint64_t place) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   const rkb_machine_moved_t *moved = moved_in(run, run->launch->number);
   if (!moved)
      return true;
   const uint64_t others = place ? moved->places[place] - moved->places[place - 1] - 1 : moved->places[0];
   for (uint32_t n = 0; n < moved->count; n++) /* these come first */
      if (tickets->words[n].foreign || (moved->words[n].even && !tickets->words[n].known.even))
         return false; /* what later blocks would find is not known */
   for (uint32_t n = 0; n < moved->count; n++) {
      machine_ticket_word_t *word = &tickets->words[n];
      machine_region_t *region = word->region;
      const uint32_t bytes = word->known.bytes;
      if (region->met)
         machine_meet(run, region, word->known.offset, bytes, false);
      const uint64_t value = sum_of(&word->known, value_of(word), share_of(&moved->words[n], others));
      memcpy(region->data + word->known.offset, &value, bytes);
      word->before = value;
      if (region->defined)
         memset(region->defined + word->known.offset, ATOMIC_UNFINISHED, bytes);
   }
   return true;
}

uint32_t rkb_machine_tickets(const rkb_machine_t *machine, uint32_t launch,
                             rkb_machine_ticket_t words[RKB_MACHINE_TICKETS], bool *others) {
   const machine_tickets_t *tickets = machine->run.tickets ? &machine->run.tickets[launch] : NULL;
   uint32_t count = 0;
   *others = tickets && tickets->many;
   for (uint32_t n = 0; tickets && n < tickets->count; n++) {
      const machine_ticket_word_t *word = &tickets->words[n];
      if (!word->foreign && word->drawing && word->drawing >= word->known.blocks / LEAST_SHARE)
         words[count++] = word->known;
      else if (word->known.once == 0) /* a lock, a sum of floating-point numbers and the like */
         *others = true;
   }
   return count;
}
