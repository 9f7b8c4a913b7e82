/* Words from which blocks draw numbers: a block adds to the word by an atomic operation, and what it does depends on the sum that it found there.
 * The blocks of a sample draw the first numbers, so they do not show what happens with later ones.  If every executed block adds as much to a word
 * as every other, the word can be moved on for blocks that are not executed: on a device, these blocks may have run before.
 *
 * In a launch whose words are moved, blocks find in memory what a device may have left there when other blocks have run.  Of that the machine knows
 * these words, the launch's inputs, and what executed blocks stored.  All else that blocks of the launch may have changed holds no value.  So a block
 * that needs it ends with a finding that says so, as in partial_launches.c, and nothing of that block counts.  On the machine's thread. */
#include "machine/memory/ticket_words.h"
#include "machine/memory/partial_launches.h"

#include <string.h>

static uint64_t sum_of(const rkb_machine_ticket_t *word, uint64_t from, uint64_t added) {
   const uint64_t sum = word->wraps ? (from + added) % (word->limit + 1) : from + added;
   return word->bytes == 8 ? sum : sum & UINT32_MAX;
}

static uint64_t value_of(const machine_ticket_word_t *word) {
   uint64_t value = 0;
   memcpy(&value, word->region->data + word->known.offset, word->known.bytes);
   return value;
}

/* Whether these operations may be draws: whole numbers, added. */
static bool adds(const struct machine_drawing *d) {
   return (d->operation == ATOMIC_ADD || d->operation == ATOMIC_INC) && !ptx_type_is_float(d->type) &&
          (d->bytes == 4 || d->bytes == 8);
}

static machine_ticket_word_t *find(machine_tickets_t *tickets, const machine_region_t *region, uint64_t offset) {
   for (uint32_t n = 0; n < tickets->count; n++)
      if (tickets->words[n].region == region && tickets->words[n].known.offset == offset)
         return &tickets->words[n];
   return NULL;
}

void machine_tickets_note(machine_run_t *run, machine_region_t *region, uint64_t offset,
                          const struct machine_drawing *d) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   machine_ticket_word_t *word = find(tickets, region, offset);
   const bool wraps = d->operation == ATOMIC_INC;
   if (!word) {
      if (!d->used || !adds(d) || (!wraps && d->value == 0))
         return;
      if (tickets->count == RKB_MACHINE_TICKETS) {
         tickets->many = true;
         return;
      }
      word = &tickets->words[tickets->count++];
      *word = (machine_ticket_word_t){.region = region,
                                      .known = {.region = (uint32_t)(region - run->regions),
                                                .bytes = d->bytes,
                                                .offset = offset,
                                                .limit = d->value,
                                                .wraps = wraps},
                                      .uneven = tickets->blocks != 0 || !d->known};
   }
   word->uneven |= !adds(d) || word->known.wraps != wraps || word->known.bytes != d->bytes ||
                   (wraps && word->known.limit != d->value);
   if (!word->drawn_from)
      word->before = d->old;
   word->drawn_from = true;
   word->added += wraps ? 1 : d->value;
}

void machine_tickets_block(machine_run_t *run) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   for (uint32_t n = 0; n < tickets->count; n++) {
      machine_ticket_word_t *word = &tickets->words[n];
      word->uneven |= !word->drawn_from || (tickets->blocks && word->known.step != word->added) ||
                      value_of(word) != sum_of(&word->known, word->before, word->added);
      word->known.step = word->added;
      word->added = 0;
      word->drawn_from = false;
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
   for (uint32_t n = 0; n < tickets->count; n++)
      tickets->words[n] = (machine_ticket_word_t){.region = &run->regions[moved->words[n].region],
                                                  .known = moved->words[n]};
   run->moving = moved != NULL;
   if (run->moving)
      machine_partial_forget(launch);
}

bool machine_tickets_move(machine_run_t *run, uint64_t place) {
   machine_tickets_t *tickets = &run->tickets[run->launch->number];
   const rkb_machine_moved_t *moved = moved_in(run, run->launch->number);
   if (!moved)
      return true;
   const uint64_t others = place ? moved->places[place] - moved->places[place - 1] - 1 : moved->places[0];
   for (uint32_t n = 0; n < moved->count; n++) /* these come first */
      if (tickets->words[n].uneven) /* what later blocks would find is not known */
         return false;
   for (uint32_t n = 0; n < moved->count; n++) {
      const machine_ticket_word_t *word = &tickets->words[n];
      machine_region_t *region = word->region;
      const uint32_t bytes = word->known.bytes;
      if (region->met)
         machine_meet(run, region, word->known.offset, bytes, false);
      const uint64_t value = sum_of(&word->known, value_of(word), others * word->known.step);
      memcpy(region->data + word->known.offset, &value, bytes);
      if (region->defined)
         memset(region->defined + word->known.offset, ATOMIC_UNFINISHED, bytes);
   }
   return true;
}

uint32_t rkb_machine_tickets(const rkb_machine_t *machine, uint32_t launch,
                             rkb_machine_ticket_t words[RKB_MACHINE_TICKETS], bool *uneven) {
   const machine_tickets_t *tickets = machine->run.tickets ? &machine->run.tickets[launch] : NULL;
   uint32_t count = 0;
   *uneven = tickets && tickets->many;
   for (uint32_t n = 0; tickets && n < tickets->count; n++)
      if (tickets->words[n].uneven)
         *uneven = true;
      else
         words[count++] = tickets->words[n].known;
   return count;
}
