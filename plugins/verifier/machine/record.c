/* Writes down what a block does to the values that inputs reach.  Registers that no input reached hold the same in every run
 * that takes the same path, so their instructions are left out, and their values are written down where an instruction that is
 * recorded takes them.  Stores are all recorded, because a load that an input reaches may read any of them. */
#include "record.h"

#include <stdlib.h>

#define MOST_WORDS (2u << 20) /* of a block: 8 MB; one that is larger is executed by every run */

enum kind {
   KIND_OTHER, /* has no part in values that inputs reached, or the record is refused */
   KIND_VALUE = RECORD_VALUE,
   KIND_VALUE_MORE, /* with a second destination or a fourth source */
   KIND_LOAD,
   KIND_STORE,
   KIND_SELECT, /* of a and b by c */
   KIND_SHUFFLE,
   KIND_CONVERT, /* of a */
   KIND_PACK,    /* extras: the destination, then the sources */
   KIND_UNPACK,  /* extras: the source, then the destinations */
   KIND_NOTHING
};

static const char *opcode_of(const machine_program_t *program, const machine_instruction_t *i) {
   return program->module->functions[i->function].statements[i->statement].opcode;
}

static bool begins(const char *text, const char *with) {
   return strncmp(text, with, strlen(with)) == 0;
}

/* The condition code passes from instruction to instruction outside of registers, and taint does not follow it. */
static bool carries(const char *opcode) {
   return strstr(opcode, ".cc") || begins(opcode, "addc") || begins(opcode, "subc") || begins(opcode, "madc");
}

bool machine_recordable(const machine_program_t *program) {
   if (program->atomics || program->strong || program->clocks || program->unsupported[0] ||
       program->call_argument_count || program->count >= 1u << 24)
      return false;
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind == MACHINE_CALL || (i->kind == MACHINE_BARRIER && i->operation > BARRIER_ARRIVE) ||
          (i->kind == MACHINE_VALUE && carries(opcode_of(program, i))))
         return false;
   }
   return true;
}

static uint8_t kind_of(const machine_program_t *program, const machine_instruction_t *i) {
   static const struct {
      const char *prefix;
      uint8_t kind;
   } customs[] = {{"ld.", KIND_LOAD},        {"ldu.", KIND_LOAD},      {"st.", KIND_STORE},
                  {"selp.", KIND_SELECT},    {"slct.", KIND_SELECT},   {"shfl.", KIND_SHUFFLE},
                  {"cvt.", KIND_CONVERT},    {"membar", KIND_NOTHING}, {"fence", KIND_NOTHING},
                  {"bar.warp", KIND_NOTHING}};
   if (i->kind != MACHINE_CUSTOM)
      return i->kind != MACHINE_VALUE ? KIND_NOTHING : i->extra_count ? KIND_VALUE_MORE : KIND_VALUE;
   const char *opcode = opcode_of(program, i);
   for (size_t n = 0; n < sizeof customs / sizeof *customs; n++)
      if (begins(opcode, customs[n].prefix))
         return customs[n].kind;
   const ptx_function_t *function = &program->module->functions[i->function];
   const ptx_operand_t *operands = function->operands + function->statements[i->statement].operand;
   if (!begins(opcode, "mov.") || function->statements[i->statement].operand_count < 2)
      return KIND_OTHER;
   return operands[0].kind == PTX_OPERAND_LIST   ? KIND_UNPACK
          : operands[1].kind == PTX_OPERAND_LIST ? KIND_PACK
                                                 : KIND_OTHER;
}

static bool make_room(void **memory, size_t *room, size_t bytes) {
   if (bytes <= *room)
      return true;
   void *larger = realloc(*memory, bytes);
   if (!larger)
      return false;
   *memory = larger;
   *room = bytes;
   return true;
}

bool machine_record_begin(machine_record_t *record, const machine_program_t *program) {
   if (record->program == program)
      return true;
   uint8_t *kinds = realloc(record->kinds, program->count + 1);
   if (!kinds)
      return false;
   record->kinds = kinds;
   record->program = program;
   for (uint32_t n = 0; n < program->count; n++)
      kinds[n] = kind_of(program, &program->code[n]);
   return true;
}

void machine_record_block(machine_record_t *record, machine_block_t *block) {
   const machine_program_t *program = block->launch->program;
   const size_t registers = program->register_count;
   record->count = 0;
   record->warp = PTX_NONE;
   record->full = !make_room((void **)&record->stale, &record->stale_room, registers * block->warp_count) ||
                  !make_room((void **)&record->ones, &record->ones_room, registers * sizeof *record->ones);
   if (record->full)
      return;
   memset(record->stale, 1, registers);
   record->stale[0] = 0;
   for (uint32_t n = 0; n < program->constant_count; n++) /* every run has these */
      record->stale[program->constants[n]] = 0;
   for (uint32_t w = 0; w < block->warp_count; w++) {
      block->warps[w].stale = record->stale + w * registers;
      if (w > 0)
         memcpy(block->warps[w].stale, record->stale, registers);
   }
}

void machine_record_free(machine_record_t *record) {
   if (!record)
      return;
   free(record->kinds);
   free(record->words);
   free(record->stale);
   free(record->ones);
   free(record);
}

/* Entries ------------------------------------------------------------------------------------------------------------ */

/* Room for so many words, or NULL; the warp's own entry comes first where another warp had the last one. */
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

/* The shadows of a register whose doubles are not just its floats. */
static void give_shadows(machine_warp_t *warp, uint32_t number, uint32_t offset) {
   const uint32_t valid = warp->valid ? warp->valid[number] : 0;
   if (!valid)
      return;
   const double *shadow = (const double *)(const void *)((const uint8_t *)warp->shadow + 2 * (size_t)offset);
   const float *value = LANES_OF(float, offset);
   bool same = true;
   for (uint32_t l = 0; l < LANES; l++) {
      const double plain = value[l];
      same &= !(valid >> l & 1) || memcmp(&plain, &shadow[l], sizeof plain) == 0;
   }
   uint32_t *at = same ? NULL : append(warp, 2 + 2 * LANES);
   if (!at)
      return;
   at[0] = ENTRY_SHADOWS | number << 8;
   at[1] = valid;
   memcpy(at + 2, shadow, LANES * sizeof *shadow);
}

/* The value of a register that no input reached, before it is used. */
static void give(machine_warp_t *warp, uint32_t number) {
   uint8_t *stale = warp->stale;
   if (!stale[number] || warp->taint[number])
      return;
   stale[number] = 0;
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

/* Bytes from the start of what the lanes access; false when they are not in one place that a record names. */
static bool find_place(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask, uint32_t *in,
                       uint64_t *taint, uint32_t offset[LANES]) {
   machine_run_t *run = warp->run;
   const uint64_t add = (uint64_t)i->immediate;
   uint64_t base = 0, beyond = 0;
   const uint32_t first = (uint32_t)__builtin_ctz(mask);
   const bool wide = i->address_bytes == 8;
   const uint64_t one = add + (wide ? LANES_OF(uint64_t, i->a)[first] : LANES_OF(uint32_t, i->a)[first]);
   uint64_t window = i->space == PTX_SHARED  ? WINDOW_SHARED
                     : i->space == PTX_LOCAL ? WINDOW_LOCAL
                                             : one >> WINDOW_SHIFT;
   uint32_t apart = 0;
   if (window == 0) {
      machine_region_t *region = machine_region_at(run, one);
      if (!region || region->bytes > UINT32_MAX)
         return false;
      base = region->base;
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
   /* Within a window the upper half of a generic address is the window's, and of another space's nothing. */
   const uint64_t from = window == 0               ? base - add
                         : i->space == PTX_GENERIC ? (window << WINDOW_SHIFT) - add
                                                   : 0 - add;
   for (uint32_t l = 0; wide && l < LANES; l++) {
      const uint64_t distance = LANES_OF(uint64_t, i->a)[l] - from;
      beyond |= mask >> l & 1 ? distance >> 32 : 0;
      offset[l] = (uint32_t)distance;
   }
   for (uint32_t l = 0; !wide && l < LANES; l++)
      offset[l] = LANES_OF(uint32_t, i->a)[l] - (uint32_t)from;
   if (window != 0 && i->space != PTX_GENERIC)
      beyond = 0;
   for (uint32_t l = 0; apart && l < LANES; l++)
      offset[l] += (warp->first_thread + l) * apart;
   for (uint32_t l = 0; mask != FULL_MASK && l < LANES; l++) /* the others go where the first goes */
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
   /* of parameters: no input is one */
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
        warp->run->regions[in].buffer == UINT32_MAX)) { /* a variable: one for all runs */
      refuse(warp);
      return;
   }
   for (uint32_t e = 0; e < i->elements; e++)
      give(warp, parts[e].number);
   enter_access(warp, i, ENTRY_STORE, mask, in, offset);
}

/* Sources and destinations of what works on registers alone. */
struct operands {
   uint32_t sources[12], source_count;
   uint32_t destinations[9], destination_count;
};

static void add_source(struct operands *list, uint32_t number) {
   if (number && list->source_count < 12)
      list->sources[list->source_count++] = number;
}

static void add_destination(struct operands *list, uint32_t number) {
   if (list->destination_count < 9)
      list->destinations[list->destination_count++] = number;
}

static struct operands operands_of(const machine_warp_t *warp, const machine_instruction_t *i, uint8_t kind) {
   const machine_slot_t *extras = warp->program->extras + i->extra;
   struct operands list = {.source_count = 0};
   if (kind == KIND_PACK || kind == KIND_UNPACK) {
      const bool packs = kind == KIND_PACK;
      for (uint32_t e = 0; e <= i->elements; e++)
         if ((e == 0) == packs)
            add_destination(&list, extras[e].number);
         else
            add_source(&list, extras[e].number);
      return list;
   }
   add_source(&list, i->ai);
   add_source(&list, i->bi);
   add_source(&list, i->ci);
   add_destination(&list, i->di);
   for (uint32_t e = 0; e < i->extra_count; e++)
      if (e == 0 && (i->flags & FLAG_SECOND))
         add_destination(&list, extras[e].number);
      else
         add_source(&list, extras[e].number);
   return list;
}

/* Whether what a value does to the definedness of registers would be another one with other inputs. */
static bool decides_definedness(const machine_warp_t *warp, const machine_instruction_t *i, uint8_t kind,
                                const struct operands *list, uint32_t mask, bool guarded) {
   if (kind == KIND_SELECT && warp->taint[i->ci] && ((warp->defined[i->ai] ^ warp->defined[i->bi]) & mask))
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

void machine_record_instruction(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask,
                                bool guarded) {
   const uint8_t kind = warp->run->record->kinds[i - warp->program->code];
   if (kind == KIND_NOTHING || warp->run->record->full || warp->run->record->refused)
      return;
   if (kind == KIND_LOAD || kind == KIND_STORE) {
      if (guarded)
         refuse(warp); /* whether it happens depends on an input: not for a launch that is recorded */
      else if (kind == KIND_LOAD)
         record_load(warp, i, mask);
      else
         record_store(warp, i, mask);
      return;
   }
   const struct operands list = operands_of(warp, i, kind);
   const bool value = i->kind == MACHINE_VALUE;
   const uint32_t whole = value && mask == warp->alive ? FULL_MASK : mask;
   uint64_t taint = guarded ? warp->taint[i->guard] : 0;
   for (uint32_t n = 0; n < list.source_count; n++)
      taint |= warp->taint[list.sources[n]];
   for (uint32_t n = 0; n < list.destination_count && (guarded || whole != FULL_MASK); n++)
      taint |= warp->taint[list.destinations[n]];
   if (!taint) {
      for (uint32_t n = 0; n < list.destination_count; n++)
         warp->stale[list.destinations[n]] = 1;
      return;
   }
   if (kind == KIND_OTHER || (guarded && list.destination_count > 1) ||
       decides_definedness(warp, i, kind, &list, mask, guarded) ||
       (kind == KIND_SHUFFLE && moves_by_taint(warp, i))) {
      refuse(warp);
      return;
   }
   for (uint32_t n = 0; n < list.source_count; n++)
      give(warp, list.sources[n]);
   for (uint32_t n = 0; n < list.destination_count && (guarded || whole != FULL_MASK); n++)
      give(warp, list.destinations[n]);
   if (guarded)
      give(warp, i->guard);
   enter(warp, i,
         value ? (guarded ? ENTRY_VALUE_GUARDED : ENTRY_VALUE)
               : (guarded ? ENTRY_CUSTOM_GUARDED : ENTRY_CUSTOM),
         whole);
}
