/* Loads, stores and atomics: spaces, widths, vectors, orders; and which .param variable a name means.  Part
 * of the decoder. */
#include "machine/decode/decode.h"

#include <string.h>

/* Memory ---------------------------------------------------------------------------------------------------- */

static bool one_of(const char *modifier, const char *const *names) {
   for (; *names; names++)
      if (strcmp(modifier, *names) == 0)
         return true;
   return false;
}

/* Takes space, vector size, order and type from the modifiers; cache hints are passed over. */
static bool memory_modifiers(decoder_t *decoder) {
   static const char *const hints[] = {"ca",  "cg",  "cs",      "lu",  "cv",   "wb", "wt",
                                       "cta", "gpu", "cluster", "sys", "weak", NULL};
   static const struct {
      const char *name;
      uint8_t space;
   } spaces[] = {{"global", PTX_GLOBAL},      {"shared", PTX_SHARED},
                 {"shared::cta", PTX_SHARED}, {"shared::cluster", PTX_SHARED}, /* the fourth name is below */
                 {"local", PTX_LOCAL},        {"const", PTX_CONST},
                 {"param", PTX_PARAM},        {"param::entry", PTX_PARAM},
                 {"param::func", PTX_PARAM}};
   machine_instruction_t *i = &decoder->instruction;
   i->space = PTX_GENERIC;
   i->elements = 1;
   for (uint32_t n = 1; n < decoder->modifier_count; n++) {
      const char *modifier = decoder->modifiers[n];
      bool known =
         one_of(modifier, hints) || strncmp(modifier, "L1::", 4) == 0 || strncmp(modifier, "L2::", 4) == 0;
      i->flags |= strcmp(modifier, "cta") == 0 ? FLAG_BLOCK : 0;
      for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++)
         if (strcmp(modifier, spaces[k].name) == 0) {
            i->space = spaces[k].space;
            i->flags |= k == 3 ? FLAG_CLUSTER : 0;
            known = true;
         }
      if (strcmp(modifier, "v2") == 0 || strcmp(modifier, "v4") == 0 || strcmp(modifier, "v8") == 0) {
         i->elements = (uint8_t)(modifier[1] - '0');
         known = true;
      } else if (strcmp(modifier, "volatile") == 0) {
         i->flags |= FLAG_VOLATILE;
         known = true;
      } else if (strcmp(modifier, "nc") == 0) {
         i->flags |= FLAG_READ_ONLY;
         known = true;
      } else if (strcmp(modifier, "relaxed") == 0) {
         i->flags |= FLAG_RELAXED;
         known = true;
      } else if (strcmp(modifier, "acquire") == 0) {
         i->flags |= FLAG_ACQUIRE | FLAG_RELAXED;
         known = true;
      } else if (strcmp(modifier, "release") == 0) {
         i->flags |= FLAG_RELEASE | FLAG_RELAXED;
         known = true;
      } else if (strcmp(modifier, "acq_rel") == 0) {
         i->flags |= FLAG_ACQUIRE | FLAG_RELEASE | FLAG_RELAXED;
         known = true;
      } else if (ptx_type_named(modifier, strlen(modifier))) {
         i->type = (uint8_t)ptx_type_named(modifier, strlen(modifier));
         known = true;
      }
      if (!known)
         return false;
   }
   i->element_bytes = (uint8_t)ptx_type_bytes(i->type);
   return i->element_bytes && i->element_bytes <= 8 && (uint32_t)i->element_bytes * i->elements <= 32;
}

static uint8_t memory_class(uint32_t space) {
   return space == PTX_SHARED                        ? RKB_CLASS_SHARED
          : space == PTX_LOCAL                       ? RKB_CLASS_LOCAL
          : space == PTX_PARAM || space == PTX_CONST ? RKB_CLASS_OTHER
                                                     : RKB_CLASS_GLOBAL;
}

/* Takes the registers of a value, or of a list of them, as extras; a load's registers may be wider than the
 * type. */
static bool value_registers(decoder_t *decoder, const ptx_operand_t *operand, bool destination) {
   machine_instruction_t *i = &decoder->instruction;
   const ptx_operand_t *parts = operand;
   if (i->elements > 1) {
      if (operand->kind != PTX_OPERAND_LIST || operand->count != i->elements)
         return decode_unsupported(decoder, decoder->statement->opcode);
      parts = decoder->function->operands + operand->first;
   }
   for (uint32_t e = 0; e < i->elements; e++) {
      machine_slot_t slot;
      const bool wide = i->element_bytes == 8;
      if (parts[e].kind == PTX_OPERAND_REGISTER) {
         uint32_t bytes = decode_declared_bytes(decoder, &parts[e]);
         if (bytes < i->element_bytes)
            return decode_unsupported(decoder, "a register narrower than what is loaded or stored");
         if (!decode_any(decoder, &parts[e], destination, &slot))
            return false;
         i->source_type = (uint8_t)bytes; /* declared width of the register */
      } else if (destination) {
         if (!decode_destination(decoder, &parts[e], wide ? 'l' : 'w', &slot))
            return false;
         i->source_type = wide ? 8 : 4;
      } else {
         char letter = i->type == PTX_F32 ? 'f' : i->type == PTX_F64 ? 'D' : wide ? 'l' : 'w';
         if (!decode_operand(decoder, &parts[e], letter, &slot))
            return false;
      }
      if (!decode_extra(decoder, slot))
         return false;
      if (e == 0)
         decode_place(i, destination ? 'd' : 'b', slot);
   }
   return true;
}

/* Whether this is a kernel's own parameter at a constant place.  Anything else in .param belongs to a call,
 * and is in the frame. */
static bool kernel_parameter(const decoder_t *decoder, const ptx_operand_t *operand) {
   const ptx_operand_t *base = &decoder->function->operands[operand->first];
   if (base->kind != PTX_OPERAND_SYMBOL)
      return false;
   const ptx_variable_t *variable = &decoder->module->variables[base->index];
   if (variable->space != PTX_PARAM || !decoder->function->entry)
      return false;
   for (uint32_t n = 0; n < decoder->function->parameter_count; n++)
      if (decoder->function->parameters[n] == base->index)
         return true;
   return false;
}

static bool parameter_symbol(const decoder_t *decoder, const ptx_operand_t *operand, bool *is_symbol) {
   const ptx_operand_t *base = &decoder->function->operands[operand->first];
   *is_symbol = base->kind == PTX_OPERAND_SYMBOL;
   return *is_symbol;
}

enum decode_result decode_memory_operation(decoder_t *decoder, bool store) {
   machine_instruction_t *i = &decoder->instruction;
   if (decode_operand_count(decoder) < 2 || decode_operand_count(decoder) > 3)
      return decode_refuse(decoder);
   const ptx_operand_t *address = &decoder->operands[store ? 0 : 1],
                       *value = &decoder->operands[store ? 1 : 0];
   if (!memory_modifiers(decoder) || address->kind != PTX_OPERAND_ADDRESS)
      return decode_refuse(decoder);
   uint16_t flags = i->flags;
   bool own = i->space == PTX_PARAM && kernel_parameter(decoder, address), symbol;
   if (i->space == PTX_PARAM && !own && parameter_symbol(decoder, address, &symbol)) {
      const ptx_variable_t *variable =
         &decoder->module->variables[decoder->function->operands[address->first].index];
      /* The frame address of a kernel's call parameters counts from the function's frame, as that of a local
       * variable. */
      i->space = PTX_LOCAL;
      FAIL_UNLESS(decode_use(decoder, store ? "st" : "ld"));
      FAIL_UNLESS(value_registers(decoder, value, !store));
      FAIL_UNLESS(decode_address(decoder, address));
      if (decoder->module->functions[variable->function].entry)
         i->immediate += decoder->function_frame[variable->function];
      i->class = RKB_CLASS_LOCAL;
      i->flags = flags;
      return DECODE_DONE;
   }
   if (own && store)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, store ? "st" : own ? "ld.param" : "ld"));
   FAIL_UNLESS(value_registers(decoder, value, !store));
   FAIL_UNLESS(decode_address(decoder, address));
   i->class = memory_class(i->space);
   i->flags = flags;
   if (own && ((uint64_t)i->immediate > decoder->program->parameter_bytes ||
               decoder->program->parameter_bytes - (uint64_t)i->immediate <
                  (uint32_t)i->element_bytes * i->elements))
      return decode_refuse(decoder);
   return DECODE_DONE;
}

enum decode_result decode_atomic_operation(decoder_t *decoder, bool reduces) {
   static const struct {
      const char *name;
      uint8_t operation;
   } names[] = {{"add", ATOMIC_ADD},   {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX}, {"inc", ATOMIC_INC},
                {"dec", ATOMIC_DEC},   {"and", ATOMIC_AND}, {"or", ATOMIC_OR},   {"xor", ATOMIC_XOR},
                {"exch", ATOMIC_EXCH}, {"cas", ATOMIC_CAS}};
   machine_instruction_t *i = &decoder->instruction;
   int operation = -1;
   uint32_t kept = 1;
   for (uint32_t n = 1; n < decoder->modifier_count; n++) {
      bool taken = strcmp(decoder->modifiers[n], "noftz") == 0;
      for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
         if (strcmp(decoder->modifiers[n], names[k].name) == 0) {
            operation = names[k].operation;
            taken = true;
         }
      if (!taken && kept != n)
         memcpy(decoder->modifiers[kept], decoder->modifiers[n], sizeof decoder->modifiers[0]);
      kept += !taken;
   }
   decoder->modifier_count = kept;
   uint32_t address = reduces ? 0 : 1, values = address + 1;
   if (operation < 0 || !memory_modifiers(decoder) ||
       decode_operand_count(decoder) != values + (operation == ATOMIC_CAS ? 2u : 1u) ||
       (ptx_type_is_float(i->type) && operation != ATOMIC_ADD && operation != ATOMIC_EXCH &&
        !(ptx_type_bytes(i->type) == 2 || i->type == PTX_F16X2 || i->type == PTX_BF16X2)))
      return decode_refuse(decoder);
   if (i->element_bytes < 4 && i->elements == 1 && !ptx_type_is_float(i->type) && operation != ATOMIC_CAS &&
       operation != ATOMIC_EXCH)
      return decode_refuse(decoder);
   uint16_t flags = i->flags;
   FAIL_UNLESS(decode_use(decoder, "atom"));
   const char letter = i->element_bytes == 8 ? 'l' : 'w';
   if (reduces) {
      for (uint32_t e = 0; e < i->elements; e++)
         FAIL_UNLESS(decode_extra(decoder, decode_nowhere(decoder, i->element_bytes == 8 ? 8 : 4)));
   } else {
      FAIL_UNLESS(value_registers(decoder, &decoder->operands[0], true));
      for (uint32_t e = 0; e < i->elements; e++)
         if (decoder->program->extras[i->extra + e].bytes != (i->element_bytes == 8 ? 8 : 4))
            return decode_refuse(decoder);
   }
   FAIL_UNLESS(value_registers(decoder, &decoder->operands[values], false));
   if (operation == ATOMIC_CAS) {
      machine_slot_t swap;
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[values + 1], letter, &swap));
      FAIL_UNLESS(decode_extra(decoder, swap));
   }
   FAIL_UNLESS(decode_address(decoder, &decoder->operands[address]));
   i->operation = (uint8_t)operation;
   i->flags = flags;
   decoder->program->atomics = true;
   return DECODE_DONE;
}
