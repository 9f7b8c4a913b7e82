/* Writes down what a block does to the values that inputs reach.  Registers that no input reached hold the same values in every run that takes the
 * same path.  So the instructions that write them are left out, and their values are written down where a recorded instruction reads them.  All
 * stores are recorded, because a load that an input reaches may read any stored value. */
#include "machine/lanes/handlers.h"
#include "machine/state/recording.h"

#include <stdlib.h>

#define MOST_WORDS (2u << 20) /* of a block: 8 MB; a block with a larger record is executed in every run */

/* Entries ------------------------------------------------------------------------------------------------------------ */

/* Makes room for so many words, or returns NULL.  Where another warp had the last entry, it adds the warp's
 * own entry first. */
static uint32_t *append(machine_warp_t *warp, uint32_t words) {
   machine_record_t *record = warp->run->record;
   if (record->full)
      return NULL;
   if (record->count + words + 1 > record->room) {
      const size_t room = record->room ? 2 * record->room : 1u << 14;
      uint32_t *larger = room <= MOST_WORDS ? realloc(record->words, room * sizeof *larger) : NULL;
      if (!larger) {
         record->full = true;
         return NULL;
      }
      record->words = larger;
      record->room = room;
   }
   if (record->warp != warp->number) {
      record->warp = warp->number;
      record->words[record->count++] = ENTRY_WARP | warp->number << 8;
   }
   record->count += words;
   return record->words + record->count - words;
}

/* Writes down the shadows of a register whose doubles are not just its floats. */
static void give_shadows(machine_warp_t *warp, uint32_t number, uint32_t offset) {
   const uint32_t valid = warp->valid ? warp->valid[number] : 0;
   if (!valid)
      return;
   const double *shadow = (const double *)(const void *)((const uint8_t *)warp->shadow + 2 * (size_t)offset);
   const float *value = LANES_OF(float, offset);
   uint64_t different = 0;
   EACH_LANE {
      const double plain = value[l];
      uint64_t plain_bits, bits;
      memcpy(&plain_bits, &plain, sizeof plain);
      memcpy(&bits, &shadow[l], sizeof bits);
      different |= valid >> l & 1 ? plain_bits ^ bits : 0;
   }
   uint32_t *at = different ? append(warp, 2 + 2 * LANES) : NULL;
   if (!at)
      return;
   at[0] = ENTRY_SHADOWS | number << 8;
   at[1] = valid;
   memcpy(at + 2, shadow, LANES * sizeof *shadow);
}

static void give_value(machine_warp_t *warp, uint32_t number) {
   warp->stale[number] = 0;
   const machine_register_info_t *info = &warp->program->registers[number];
   const uint8_t *lanes = warp->registers + info->offset;
   if (info->bytes == 0) {
      uint32_t *at = append(warp, 3);
      if (at) {
         at[0] = ENTRY_SET | number << 8;
         at[1] = SET_PREDICATE;
         memcpy(at + 2, lanes, 4);
      }
      return;
   }
   const bool one = memcmp(lanes, lanes + info->bytes, (LANES - 1) * (size_t)info->bytes) == 0;
   const uint32_t words = info->bytes / 4 * (one ? 1u : LANES);
   uint32_t *at = append(warp, 2 + words);
   if (!at)
      return;
   at[0] = ENTRY_SET | number << 8;
   at[1] = info->bytes == 8 ? (one ? SET_DOUBLE_WORD : SET_DOUBLE_WORDS) : (one ? SET_WORD : SET_WORDS);
   memcpy(at + 2, lanes, words * sizeof *at);
   if (info->bytes == 4)
      give_shadows(warp, number, info->offset);
}

/* Writes down the value of a register that no input reached, before it is used. */
static inline void give(machine_warp_t *warp, uint32_t number) {
   if (warp->stale[number] && !warp->taint[number])
      give_value(warp, number);
}

static void enter(machine_warp_t *warp, const machine_instruction_t *i, enum machine_entry kind,
                  uint32_t mask) {
   uint32_t *at = append(warp, 2);
   if (at) {
      at[0] = kind | (uint32_t)(i - warp->program->code) << 8;
      at[1] = mask;
   }
}

static void refuse(machine_warp_t *warp) {
   warp->run->record->refused = true;
}

/* Instructions --------------------------------------------------------------------------------------------------------- */

/* Finds the place that the lanes access, and each lane's distance from its start in bytes; false when they
 * are not in one place that a record names. */
static bool find_place(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask, uint32_t *in,
                       uint64_t *taint, uint32_t offset[LANES]) {
   machine_run_t *run = warp->run;
   const uint64_t add = (uint64_t)i->immediate;
   uint64_t base = 0, size = UINT64_C(1) << 32, beyond = 0;
   const uint32_t first = (uint32_t)__builtin_ctz(mask);
   const bool wide = i->address_bytes == 8;
   const uint64_t one = add + (wide ? LANES_OF(uint64_t, i->a)[first] : LANES_OF(uint32_t, i->a)[first]);
   uint64_t window = i->space == PTX_SHARED  ? WINDOW_SHARED
                     : i->space == PTX_LOCAL ? WINDOW_LOCAL
                                             : machine_generic(run, one) >> WINDOW_SHIFT;
   uint32_t apart = 0;
   if (window == 0) {
      machine_region_t *region = machine_region_at(run, one);
      if (!region || region->bytes > UINT32_MAX)
         return false;
      base = region->base;
      size = region->bytes; /* another lane may access another region, which may lie close to this one */
      *in = (uint32_t)(region - run->regions);
      *taint = region->taint;
   } else if (window == WINDOW_SHARED) {
      *in = PLACE_SHARED;
      *taint = warp->block->shared_taint;
   } else if (window == WINDOW_LOCAL) {
      *in = PLACE_LOCAL;
      *taint = run->local_taint;
      apart = warp->program->frame_bytes;
   } else {
      return false;
   }
   /* Within a window, the upper half of a generic address comes from the window; an address of the space itself has no upper half. */
   const uint64_t from = window == 0               ? base - add
                         : i->space == PTX_GENERIC ? run->window_base[window] - add
                                                   : 0 - add;
   for (uint32_t l = 0; wide && l < LANES; l++) {
      const uint64_t distance = LANES_OF(uint64_t, i->a)[l] - from;
      beyond |= (mask >> l & 1) && distance >= size;
      offset[l] = (uint32_t)distance;
   }
   for (uint32_t l = 0; !wide && l < LANES; l++)
      offset[l] = LANES_OF(uint32_t, i->a)[l] - (uint32_t)from;
   if (window != 0 && i->space != PTX_GENERIC)
      beyond = 0;
   for (uint32_t l = 0; apart && l < LANES; l++)
      offset[l] += (warp->first_thread + l) * apart;
   /* Lanes outside the mask get the place of the first lane. */
   for (uint32_t l = 0; mask != FULL_MASK && l < LANES; l++)
      offset[l] = mask >> l & 1 ? offset[l] : offset[first];
   return !beyond;
}

static void enter_access(machine_warp_t *warp, const machine_instruction_t *i, enum machine_entry kind,
                         uint32_t mask, uint32_t in, const uint32_t offset[LANES]) {
   uint32_t apart = 0, off_row = 0, off_groups = 0, equal = 0;
   for (uint32_t l = 0; l < LANES; l++) {
      apart |= offset[l] ^ offset[0];
      off_row |= offset[l] ^ (offset[0] + 4 * l);
   }
   for (uint32_t g = 0; g < LANES; g += 8) {
      uint32_t one = 0, row = 0;
      for (uint32_t l = g; l < g + 8; l++) {
         one |= offset[l] ^ offset[g];
         row |= offset[l] ^ (offset[g] + 4 * (l - g));
      }
      equal |= (uint32_t)(one == 0) << g / 8;
      off_groups |= (uint32_t)(one != 0 && row != 0);
   }
   const bool all = mask == FULL_MASK;
   const enum machine_place_form form = !apart               ? PLACE_ONE
                                        : all && !off_row    ? PLACE_ROW
                                        : all && !off_groups ? PLACE_GROUPS
                                                             : PLACE_ANY;
   const uint32_t words = form <= PLACE_ROW ? 1 : form == PLACE_GROUPS ? 5 : LANES;
   uint32_t *at = append(warp, 3 + words);
   if (!at)
      return;
   at[0] = kind | (uint32_t)(i - warp->program->code) << 8;
   at[1] = mask;
   at[2] = form | in << 8;
   if (form == PLACE_GROUPS) {
      at[3] = equal;
      for (uint32_t g = 0; g < 4; g++)
         at[4 + g] = offset[8 * g];
   } else {
      memcpy(at + 3, offset, words * sizeof *offset);
   }
}

static bool moves_words(const machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   bool words = i->element_bytes == 4 && i->elements <= 8;
   for (uint32_t e = 0; e < i->elements; e++)
      words &= parts[e].bytes == 4;
   return words;
}

static void record_load(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint8_t *stale = warp->stale;
   uint32_t in = 0, offset[LANES];
   uint64_t taint = 0, kept = 0;
   for (uint32_t e = 0; mask != FULL_MASK && e < i->elements; e++)
      kept |= warp->taint[parts[e].number];
   if (i->space == PTX_SHARED && !(warp->block->shared_taint | kept | warp->taint[i->ai])) {
      for (uint32_t e = 0; e < i->elements; e++)
         stale[parts[e].number] = 1;
      return;
   }
   /* a parameter is no input */
   const bool found = i->space == PTX_PARAM || find_place(warp, i, mask, &in, &taint, offset);
   if (!found || warp->taint[i->ai]) {
      refuse(warp);
      return;
   }
   if (!(taint | kept)) {
      for (uint32_t e = 0; e < i->elements; e++)
         stale[parts[e].number] = 1;
      return;
   }
   if (i->space == PTX_PARAM || !moves_words(warp, i)) {
      refuse(warp);
      return;
   }
   for (uint32_t e = 0; mask != FULL_MASK && e < i->elements; e++)
      give(warp, parts[e].number);
   enter_access(warp, i, ENTRY_LOAD, mask, in, offset);
}

static void record_store(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   uint32_t in, offset[LANES];
   uint64_t taint;
   if (!moves_words(warp, i) || warp->taint[i->ai] || !find_place(warp, i, mask, &in, &taint, offset) ||
       (in < PLACE_SHARED &&
        warp->run->regions[in].buffer == UINT32_MAX)) { /* it is a variable, which all runs share */
      refuse(warp);
      return;
   }
   for (uint32_t e = 0; e < i->elements; e++)
      give(warp, parts[e].number);
   enter_access(warp, i, ENTRY_STORE, mask, in, offset);
}

/* Only the handlers of matrix moves know which places these access, so the handlers repeat the moves.  No input may decide the places. */
static bool matrix_taint(machine_warp_t *warp, const machine_instruction_t *i, bool store, uint64_t *taint) {
   machine_run_t *run = warp->run;
   const uint64_t address =
                     (i->address_bytes == 8 ? LANES_OF(uint64_t, i->a)[0] : LANES_OF(uint32_t, i->a)[0]) +
                     (uint64_t)i->immediate,
                  window =
                     i->space == PTX_SHARED ? WINDOW_SHARED : machine_generic(run, address) >> WINDOW_SHIFT;
   const machine_region_t *region = window == 0 ? machine_region_at(run, address) : NULL;
   if ((warp->taint[i->ai] | warp->taint[i->bi]) || (window == 0 && !region) ||
       (window != 0 && window != WINDOW_SHARED) || (store && region && region->buffer == UINT32_MAX))
      return false;
   *taint = region ? region->taint : warp->block->shared_taint;
   return true;
}

static void record_matrix_move(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                               bool store) {
   const machine_operands_t *list = &warp->run->record->operands[i - warp->program->code];
   uint64_t taint;
   if (!matrix_taint(warp, i, store, &taint)) {
      refuse(warp);
      return;
   }
   if (!store && !taint) {
      for (uint32_t n = 0; n < list->destination_count; n++)
         warp->stale[list->destinations[n]] = 1;
      return;
   }
   for (uint32_t n = 0; n < list->source_count; n++)
      give(warp, list->sources[n]);
   enter(warp, i, ENTRY_CUSTOM, mask);
}

/* A copy counts as a store, and all stores are recorded. */
static void record_copy(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   if (warp->taint[i->ai] | warp->taint[i->bi] | warp->taint[i->ci]) {
      refuse(warp);
      return;
   }
   const uint16_t sources[] = {i->ai, i->bi, i->ci};
   for (size_t n = 0; n < sizeof sources / sizeof *sources; n++)
      if (sources[n])
         give(warp, sources[n]);
   enter(warp, i, ENTRY_CUSTOM, mask);
}

/* Whether other registers would be defined with other inputs. */
static bool decides_definedness(const machine_warp_t *warp, const machine_instruction_t *i, uint8_t kind,
                                const machine_operands_t *list, uint32_t mask, bool guarded) {
   if (kind == RECORD_SELECT && warp->taint[i->ci] && ((warp->defined[i->ai] ^ warp->defined[i->bi]) & mask))
      return true;
   if (!guarded)
      return false;
   uint32_t defined = FULL_MASK;
   for (uint32_t n = 0; n < list->source_count; n++)
      defined &= warp->defined[list->sources[n]];
   for (uint32_t n = 0; n < list->destination_count; n++)
      defined &= warp->defined[list->destinations[n]];
   return (mask & ~defined) != 0;
}

/* A shuffle whose lanes or members depend on an input. */
static bool moves_by_taint(const machine_warp_t *warp, const machine_instruction_t *i) {
   const machine_slot_t *members = warp->program->extras + i->extra + i->extra_count - 1;
   return (warp->taint[i->bi] | warp->taint[i->ci] | warp->taint[members->number]) != 0;
}

void MACHINE_PASTE2(machine_record, MACHINE_ISA)(machine_warp_t *warp, const machine_instruction_t *i,
                                                 uint32_t mask, bool guarded) {
   const uint8_t kind = warp->run->record->kinds[i - warp->program->code];
   if (kind == RECORD_NOTHING || warp->run->record->full || warp->run->record->refused)
      return;
   if (kind == RECORD_LOAD || kind == RECORD_STORE || kind == RECORD_MATRIX_LOAD ||
       kind == RECORD_MATRIX_STORE || kind == RECORD_COPY) {
      if (guarded)
         refuse(warp); /* an input decides whether the access happens, so such a launch is not recorded */
      else if (kind == RECORD_COPY)
         record_copy(warp, i, mask);
      else if (kind == RECORD_MATRIX_LOAD || kind == RECORD_MATRIX_STORE)
         record_matrix_move(warp, i, mask, kind == RECORD_MATRIX_STORE);
      else if (kind == RECORD_LOAD)
         record_load(warp, i, mask);
      else
         record_store(warp, i, mask);
      return;
   }
   const machine_operands_t *list = &warp->run->record->operands[i - warp->program->code];
   const bool value = i->kind == MACHINE_VALUE;
   const uint32_t whole = value && mask == warp->alive ? FULL_MASK : mask;
   uint64_t taint = guarded ? warp->taint[i->guard] : 0;
   for (uint32_t n = 0; n < list->source_count; n++)
      taint |= warp->taint[list->sources[n]];
   for (uint32_t n = 0; n < list->destination_count && (guarded || whole != FULL_MASK); n++)
      taint |= warp->taint[list->destinations[n]];
   if (!taint) {
      for (uint32_t n = 0; n < list->destination_count; n++)
         warp->stale[list->destinations[n]] = 1;
      return;
   }
   if (kind == RECORD_OTHER || (guarded && list->destination_count > 1) ||
       decides_definedness(warp, i, kind, list, mask, guarded) ||
       (kind == RECORD_SHUFFLE && moves_by_taint(warp, i))) {
      refuse(warp);
      return;
   }
   for (uint32_t n = 0; n < list->source_count; n++)
      give(warp, list->sources[n]);
   for (uint32_t n = 0; n < list->destination_count && (guarded || whole != FULL_MASK); n++)
      give(warp, list->destinations[n]);
   if (guarded)
      give(warp, i->guard);
   enter(warp, i,
         value ? (guarded ? ENTRY_VALUE_GUARDED : ENTRY_VALUE)
               : (guarded ? ENTRY_CUSTOM_GUARDED : ENTRY_CUSTOM),
         whole);
}
