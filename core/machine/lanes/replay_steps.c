/* Repeats a record (../state/recording.h): the instructions that work on values which inputs reach, in the order in which the block executed
 * them, on the memory that the regions point to now.  Their addresses, lanes and definedness are those of the run that was
 * recorded and checked, so nothing is checked here. */
#include "machine/lanes/handlers.h"
#include "machine/state/recording.h"

#define GROUP 8
#define GROUPS (LANES / GROUP)

typedef struct memory {
   uint8_t *data;
   double *shadow; /* by word; NULL for inputs, and everywhere in a run that keeps no doubles */
} memory_t;

static inline memory_t memory_of(const machine_run_t *run, uint32_t in) {
   if (in == PLACE_SHARED)
      return (memory_t){run->block.shared, run->block.shared_shadow};
   if (in == PLACE_LOCAL)
      return (memory_t){run->local, run->local_shadow};
   return (memory_t){run->regions[in].data, run->regions[in].shadow};
}

static inline uint32_t words_of(enum machine_place_form form) {
   return form <= PLACE_ROW ? 1 : form == PLACE_GROUPS ? 1 + GROUPS : LANES;
}

/* The offset of every lane. */
static inline void spread(const uint32_t *place, enum machine_place_form form, uint32_t offset[LANES]) {
   switch (form) {
   case PLACE_ONE:
      EACH_LANE offset[l] = place[0];
      break;
   case PLACE_ROW:
      EACH_LANE offset[l] = place[0] + 4 * (uint32_t)l;
      break;
   case PLACE_GROUPS:
      for (uint32_t g = 0; g < GROUPS; g++)
         for (uint32_t l = 0; l < GROUP; l++)
            offset[GROUP * g + l] = place[1 + g] + (place[0] >> g & 1 ? 0 : 4 * l);
      break;
   default:
      memcpy(offset, place, LANES * sizeof *offset);
   }
}

/* One word for each lane, all lanes. */
static inline void take_words(uint32_t *d, const uint8_t *data, const uint32_t *place,
                              enum machine_place_form form) {
   uint32_t word;
   switch (form) {
   case PLACE_ONE:
      memcpy(&word, data + place[0], 4);
      EACH_LANE d[l] = word;
      break;
   case PLACE_ROW:
      memcpy(d, data + place[0], 4 * LANES);
      break;
   case PLACE_GROUPS:
      for (uint32_t g = 0; g < GROUPS; g++) {
         const uint8_t *at = data + place[1 + g];
         memcpy(&word, at, 4);
         if (place[0] >> g & 1)
            for (uint32_t l = 0; l < GROUP; l++)
               d[GROUP * g + l] = word;
         else
            memcpy(d + GROUP * g, at, 4 * GROUP);
      }
      break;
   default:
      for (uint32_t l = 0; l < LANES; l++)
         memcpy(&d[l], data + place[l], 4);
   }
}

static inline void take_shadows(double *d, const double *shadow, const uint32_t *place,
                                enum machine_place_form form, uint32_t e) {
   switch (form) {
   case PLACE_ONE: {
      const double one = shadow[(place[0] >> 2) + e];
      EACH_LANE d[l] = one;
      break;
   }
   case PLACE_ROW:
      memcpy(d, shadow + (place[0] >> 2) + e, LANES * sizeof *d);
      break;
   case PLACE_GROUPS:
      for (uint32_t g = 0; g < GROUPS; g++) {
         const double *at = shadow + (place[1 + g] >> 2) + e;
         if (place[0] >> g & 1)
            for (uint32_t l = 0; l < GROUP; l++)
               d[GROUP * g + l] = *at;
         else
            memcpy(d + GROUP * g, at, GROUP * sizeof *d);
      }
      break;
   default:
      for (uint32_t l = 0; l < LANES; l++)
         d[l] = shadow[(place[l] >> 2) + e];
   }
}

/* Takes the float where memory keeps no double. */
static inline void fill_gaps(double *d, const uint32_t *value) {
   EACH_LANE d[l] = machine_has_shadow(d[l]) ? d[l] : (double)bits_to_float(value[l]);
}

/* The doubles of a register; NULL where the run keeps none. */
static inline double *doubles_of_register(const machine_warp_t *warp, uint32_t offset) {
   return warp->shadow ? SHADOW_OF(offset) : NULL;
}

static void load(machine_warp_t *warp, const machine_slot_t *part, memory_t from, const uint32_t *place,
                 enum machine_place_form form, uint32_t mask, uint32_t e) {
   uint32_t *d = LANES_OF(uint32_t, part->offset);
   double *shadow = doubles_of_register(warp, part->offset);
   const uint8_t *data = from.data + 4 * e;
   if (mask == FULL_MASK) {
      take_words(d, data, place, form);
      if (from.shadow) {
         take_shadows(shadow, from.shadow, place, form, e);
         fill_gaps(shadow, d);
      }
   } else { /* lanes outside the mask are at the place of the first lane inside */
      uint32_t words[LANES];
      double known[LANES];
      take_words(words, data, place, form);
      EACH_LANE d[l] = KEEP(words[l], d[l]);
      if (from.shadow) {
         take_shadows(known, from.shadow, place, form, e);
         fill_gaps(known, words);
         EACH_LANE shadow[l] = KEEP(known[l], shadow[l]);
      }
   }
   if (warp->valid)
      warp->valid[part->number] =
         from.shadow ? warp->valid[part->number] | mask : warp->valid[part->number] & ~mask;
}

static void store(machine_warp_t *warp, const machine_slot_t *part, memory_t to, const uint32_t *place,
                  enum machine_place_form form, uint32_t mask, uint32_t e) {
   const uint32_t *value = LANES_OF(uint32_t, part->offset);
   const double *shadow = doubles_of_register(warp, part->offset);
   uint8_t *data = to.data + 4 * e;
   if (warp->shadow)
      machine_shadow_fill(warp, part->offset, part->number);
   if (form == PLACE_ROW) {
      memcpy(data + place[0], value, 4 * LANES);
      if (to.shadow)
         memcpy(to.shadow + (place[0] >> 2) + e, shadow, LANES * sizeof *shadow);
      return;
   }
   uint32_t offset[LANES];
   spread(place, form, offset);
   for (uint32_t l = 0; l < LANES; l++) /* where several lanes write one word, the last one's value stays */
      if (mask >> l & 1) {
         memcpy(data + offset[l], &value[l], 4);
         if (to.shadow)
            to.shadow[(offset[l] >> 2) + e] = shadow[l];
      }
}

static const uint32_t *access_memory(machine_warp_t *warp, const machine_instruction_t *i, const uint32_t *at,
                                     bool stores) {
   const machine_slot_t *parts = warp->program->extras + i->extra;
   const enum machine_place_form form = at[2] & 255;
   const memory_t memory = memory_of(warp->run, at[2] >> 8);
   for (uint32_t e = 0; e < i->elements; e++)
      if (stores)
         store(warp, &parts[e], memory, at + 3, form, at[1], e);
      else
         load(warp, &parts[e], memory, at + 3, form, at[1], e);
   return at + 3 + words_of(form);
}

static void value(machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   if (!warp->shadow) {
      i->run(warp, i, mask);
      return;
   }
   if (!i->shadow) {
      i->run(warp, i, mask);
      warp->valid[i->di] &= ~mask;
      return;
   }
   machine_shadow_fill_read(warp, i);
   i->run(warp, i, mask);
   i->shadow(warp, i, mask);
   warp->valid[i->di] |= mask;
}

static const uint32_t *set(machine_warp_t *warp, const uint32_t *at) {
   const uint32_t number = at[0] >> 8;
   const machine_register_info_t *info = &warp->program->registers[number];
   uint32_t *words = LANES_OF(uint32_t, info->offset);
   uint64_t *wide = LANES_OF(uint64_t, info->offset), one;
   if (warp->valid)
      warp->valid[number] = 0;
   switch (at[1]) {
   case SET_PREDICATE:
      PREDICATE(info->offset) = at[2];
      return at + 3;
   case SET_WORD:
      EACH_LANE words[l] = at[2];
      return at + 3;
   case SET_WORDS:
      memcpy(words, at + 2, 4 * LANES);
      return at + 2 + LANES;
   case SET_DOUBLE_WORD:
      memcpy(&one, at + 2, sizeof one);
      EACH_LANE wide[l] = one;
      return at + 4;
   default:
      memcpy(wide, at + 2, 8 * LANES);
      return at + 2 + 2 * LANES;
   }
}

static const uint32_t *shadows(machine_warp_t *warp, const uint32_t *at) {
   const uint32_t number = at[0] >> 8;
   warp->valid[number] = at[1];
   memcpy(SHADOW_OF(warp->program->registers[number].offset), at + 2, LANES * sizeof(double));
   return at + 2 + 2 * LANES;
}

static inline uint32_t passing(const machine_warp_t *warp, const machine_instruction_t *i, uint32_t mask) {
   const uint32_t holds = PREDICATE(warp->program->registers[i->guard].offset);
   return mask & (i->guard_negated ? ~holds : holds);
}

static void repeat(machine_record_t *record, machine_block_t *block) {
   const machine_instruction_t *code = block->launch->program->code;
   const uint32_t *at = record->words, *end = record->count ? at + record->count : at;
   machine_warp_t *warp = block->warps;
   while (at < end) {
      const uint32_t number = at[0] >> 8; /* the number of an instruction, a register or a warp */
      uint32_t mask;
      switch ((enum machine_entry)(at[0] & 255)) {
      case ENTRY_WARP:
         warp = &block->warps[number];
         at += 1;
         break;
      case ENTRY_VALUE:
         value(warp, &code[number], at[1]);
         at += 2;
         break;
      case ENTRY_VALUE_GUARDED:
         if ((mask = passing(warp, &code[number], at[1])))
            value(warp, &code[number], mask);
         at += 2;
         break;
      case ENTRY_CUSTOM:
         code[number].run(warp, &code[number], at[1]);
         at += 2;
         break;
      case ENTRY_CUSTOM_GUARDED:
         if ((mask = passing(warp, &code[number], at[1])))
            code[number].run(warp, &code[number], mask);
         at += 2;
         break;
      case ENTRY_LOAD:
         at = access_memory(warp, &code[number], at, false);
         break;
      case ENTRY_STORE:
         at = access_memory(warp, &code[number], at, true);
         break;
      case ENTRY_SET:
         at = set(warp, at);
         break;
      default:
         at = shadows(warp, at);
      }
   }
}

/* Handlers find every register defined and no taint to carry, because the recorded run has already found every undefined value that decided
 * something. */
void MACHINE_PASTE2(machine_replay, MACHINE_ISA)(machine_record_t *record, machine_block_t *block) {
   const uint32_t registers = block->launch->program->register_count;
   memset(record->ones, 0xff, registers * sizeof *record->ones);
   for (uint32_t w = 0; block->run->shadow && w < block->warp_count; w++)
      memset(block->warps[w].valid, 0, registers * sizeof *block->warps[w].valid);
   uint32_t *defined[MAX_WARPS];
   uint64_t *taint[MAX_WARPS];
   for (uint32_t w = 0; w < block->warp_count; w++) {
      defined[w] = block->warps[w].defined;
      taint[w] = block->warps[w].taint;
      block->warps[w].defined = record->ones;
      block->warps[w].taint = NULL;
   }
   block->run->repeats = true;
   repeat(record, block);
   block->run->repeats = false;
   for (uint32_t w = 0; w < block->warp_count; w++) {
      block->warps[w].defined = defined[w];
      block->warps[w].taint = taint[w];
   }
}
