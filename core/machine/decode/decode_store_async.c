/* Stores and reductions to the shared memory of a block of the cluster that complete bytes at an mbarrier there (PTX ISA 9.0, 9.7.9.12 and
 * 9.7.13.7).  Part of the decoder.
 *
 *    st.async[.weak][.shared::cluster][.mbarrier::complete_tx::bytes][.v2 | .v4].type [to], value, [mbarrier];
 *    red.async.relaxed.cluster[.shared::cluster].mbarrier::complete_tx::bytes.operation.type [to], value, [mbarrier];
 *
 * extras: the two addresses, each with an offset, then the values. */
#include "machine/decode/decode.h"

#include <string.h>

static bool known(const char *word) {
   static const char *const words[] = {"async",
                                       "weak",
                                       "relaxed",
                                       "cluster",
                                       "shared::cluster",
                                       "mbarrier::complete_tx::bytes",
                                       "v2",
                                       "v4",
                                       "add",
                                       "min",
                                       "max",
                                       "inc",
                                       "dec",
                                       "and",
                                       "or",
                                       "xor",
                                       NULL};
   for (const char *const *at = words; *at; at++)
      if (strcmp(word, *at) == 0)
         return true;
   return false;
}

enum decode_result decode_store_async(decoder_t *decoder, bool reduces) {
   machine_instruction_t *i = &decoder->instruction;
   const ptx_operand_t *value = &decoder->operands[1];
   decoder->program->small_operations = true;
   decoder->program->asynchronous = true;
   for (uint32_t n = 1; n + 1 < decoder->modifier_count; n++)
      if (!known(decoder->modifiers[n]))
         return decode_refuse(decoder);
   i->type = (uint8_t)decode_type(decoder, 0);
   i->element_bytes = (uint8_t)ptx_type_bytes(i->type);
   i->elements = decode_modifier(decoder, "v4") ? 4 : decode_modifier(decoder, "v2") ? 2 : 1;
   if (decode_operand_count(decoder) != 3 || (i->element_bytes != 4 && i->element_bytes != 8) ||
       (reduces && (i->elements != 1 || !decode_bulk_reduction(decoder))) ||
       i->elements * i->element_bytes > 16)
      return decode_refuse(decoder);
   const uint8_t type = i->type;
   FAIL_UNLESS(decode_use(decoder, reduces ? "red.async" : "st.async") &&
               decode_address_extras(decoder, &decoder->operands[0]) &&
               decode_address_extras(decoder, &decoder->operands[2]));
   i->type = type;
   if (i->elements > 1 && (value->kind != PTX_OPERAND_LIST || value->count != i->elements))
      return decode_refuse(decoder);
   for (uint32_t e = 0; e < i->elements; e++) {
      machine_slot_t slot;
      const ptx_operand_t *part = i->elements > 1 ? &decoder->function->operands[value->first + e] : value;
      FAIL_UNLESS(decode_operand(decoder, part, i->element_bytes == 8 ? 'l' : 'w', &slot) &&
                  decode_extra(decoder, slot));
   }
   return DECODE_DONE;
}
