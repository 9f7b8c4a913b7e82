/* Operands that bulk copies and tensor copies write in the same way: a second address, and the operation of a reduction.  Part of the
 * decoder. */
#include "machine/decode/decode.h"

bool decode_address_extras(decoder_t *decoder, const ptx_operand_t *operand) {
   machine_instruction_t *i = &decoder->instruction;
   const uint32_t a = i->a;
   const uint16_t ai = i->ai;
   const int64_t immediate = i->immediate;
   if (!decode_address(decoder, operand))
      return false;
   const machine_slot_t base = {.offset = i->a, .number = i->ai, .bytes = i->address_bytes};
   const machine_slot_t offset = decode_constant(decoder, (uint64_t)i->immediate, 8);
   i->a = a;
   i->ai = ai;
   i->immediate = immediate;
   i->address_bytes = 0;
   return decode_extra(decoder, base) && decode_extra(decoder, offset);
}

bool decode_multicast(decoder_t *decoder, const ptx_operand_t *operand) {
   machine_slot_t blocks;
   decoder->instruction.flags |= FLAG_MULTICAST;
   return decode_operand(decoder, operand, 'w', &blocks) && decode_extra(decoder, blocks);
}

bool decode_bulk_reduction(decoder_t *decoder) {
   static const struct {
      const char *name;
      uint8_t operation;
   } names[] = {{"add", ATOMIC_ADD}, {"min", ATOMIC_MIN}, {"max", ATOMIC_MAX}, {"inc", ATOMIC_INC},
                {"dec", ATOMIC_DEC}, {"and", ATOMIC_AND}, {"or", ATOMIC_OR},   {"xor", ATOMIC_XOR}};
   machine_instruction_t *i = &decoder->instruction;
   for (size_t n = 0; n < sizeof names / sizeof *names; n++)
      if (decode_modifier(decoder, names[n].name)) {
         i->rounding = names[n].operation;
         return true;
      }
   return false;
}
