/* The table of opcodes: finds the row of an opcode, and its operands by the row's signature.  Part of the
 * decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t key_hash(const char *key) {
   uint32_t hash = 2166136261u;
   for (; *key; key++)
      hash = (hash ^ (unsigned char)*key) * 16777619u;
   return hash ^ hash >> 13;
}

bool decode_index_opcodes(decoder_t *decoder) {
   decoder->index_size = 2048;
   decoder->index = calloc(decoder->index_size, sizeof *decoder->index);
   if (!decoder->index)
      return decode_out_of_memory(decoder);
   decoder->none = decoder->opcodes[0].run;
   for (uint32_t n = 1; n < decoder->opcode_count; n++) {
      uint32_t at = key_hash(decoder->opcodes[n].key) % decoder->index_size;
      while (decoder->index[at])
         at = (at + 1) % decoder->index_size;
      decoder->index[at] = (uint16_t)n;
   }
   return true;
}

const machine_opcode_t *decode_lookup(const decoder_t *decoder, const char *key) {
   for (uint32_t at = key_hash(key) % decoder->index_size; decoder->index[at];
        at = (at + 1) % decoder->index_size)
      if (strcmp(decoder->opcodes[decoder->index[at]].key, key) == 0)
         return &decoder->opcodes[decoder->index[at]];
   return NULL;
}

bool decode_use(decoder_t *decoder, const char *key) {
   const machine_opcode_t *row = decode_lookup(decoder, key);
   if (!row)
      return decode_unsupported(decoder, decoder->statement->opcode);
   machine_instruction_t *i = &decoder->instruction;
   i->run = row->run;
   i->shadow = row->shadow == decoder->none ? NULL : row->shadow;
   i->kind = row->kind;
   i->class = row->class;
   i->operation = row->operation;
   i->burden = decode_burden(key, row->class);
   if (row->type)
      i->type = row->type;
   return true;
}

/* Operands of a row, by its signature. */
static bool decode_signature(decoder_t *decoder, const char *signature) {
   machine_instruction_t *i = &decoder->instruction;
   static const char order[] = "dabc";
   uint32_t operand = 0, place = 0;
   for (const char *letter = signature; *letter; letter++, operand++) {
      if (operand >= decoder->statement->operand_count)
         return decode_unsupported(decoder, decoder->statement->opcode);
      const ptx_operand_t *from = &decoder->operands[operand];
      machine_slot_t slot;
      if (*letter == 'i') {
         if (from->kind != PTX_OPERAND_INTEGER)
            return decode_unsupported(decoder, decoder->statement->opcode);
         i->operation = (uint8_t)from->value;
         continue;
      }
      if (place == 0 ? !decode_destination(decoder, from, *letter, &slot)
                     : !decode_operand(decoder, from, *letter == 'e' ? 'w' : *letter, &slot))
         return false;
      if (*letter == 'e') {
         if (!decode_extra(decoder, slot))
            return false;
      } else {
         decode_place(i, order[place++], slot);
      }
   }
   if (operand != decoder->statement->operand_count)
      return decode_unsupported(decoder, decoder->statement->opcode);
   return true;
}

/* A sum with a constant from 2^22 to 2^25 has a rounded integer in its low bits: the idiom of range
 * reduction. */
bool decode_rounding_size(uint32_t bits) {
   uint32_t exponent = bits >> 23 & 255;
   return exponent >= 127 + 22 && exponent < 127 + 25;
}

static bool adds_large(const decoder_t *decoder) {
   for (uint32_t n = 1; n < decoder->statement->operand_count; n++) {
      const ptx_operand_t *operand = &decoder->operands[n];
      if (operand->kind == PTX_OPERAND_FLOAT32 && decode_rounding_size((uint32_t)operand->value))
         return true;
      if (operand->kind == PTX_OPERAND_REGISTER && decoder->definitions[operand->index] == 1 &&
          decoder->large[operand->index])
         return true;
   }
   return false;
}

bool decode_generic(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   char key[200] = "";
   size_t length = 0;
   bool float_type = ptx_type_is_float(decode_type(decoder, 0));
   for (uint32_t n = 0; n < decoder->modifier_count; n++) {
      const char *modifier = decoder->modifiers[n];
      if (n && strcmp(modifier, "rn") == 0)
         continue;
      /* slct.ftz ends with the type of its result */
      if (n && (float_type || decoder->modifiers[0][0] == 's') && strcmp(modifier, "ftz") == 0)
         i->flags |= FLAG_FTZ;
      else if (n && float_type && strcmp(modifier, "sat") == 0)
         i->flags |= FLAG_SAT;
      else if (n && strcmp(modifier, "relu") == 0)
         i->flags |= FLAG_ABS;
      else if (n && strcmp(modifier, "rz") == 0)
         i->rounding = ROUND_ZERO;
      else if (n && strcmp(modifier, "rm") == 0)
         i->rounding = ROUND_DOWN;
      else if (n && strcmp(modifier, "rp") == 0)
         i->rounding = ROUND_UP;
      else
         length += (size_t)snprintf(key + length, sizeof key - length, "%s%s", n ? "." : "", modifier);
   }
   const machine_opcode_t *row = decode_lookup(decoder, key);
   if (i->flags || i->rounding) {
      /* "max.f32" of three operands has a key of its own */
      snprintf(key + length, sizeof key - length, "+");
      const machine_opcode_t *careful = decode_lookup(decoder, key);
      if (careful)
         row = careful;
      else if (i->rounding || (row && row->class != RKB_CLASS_F16 && row->class != RKB_CLASS_SPECIAL &&
                               (i->flags & FLAG_SAT)))
         row = NULL;
      key[length] = '\0';
   }
   if (!row || row->signature[0] == '*')
      return decode_unsupported(decoder, decoder->statement->opcode);
   if (!decode_use(decoder, row->key) || !decode_signature(decoder, row->signature))
      return false;
   const char *base = decoder->modifiers[0];
   if (i->class == RKB_CLASS_F32 &&
       (strcmp(base, "add") == 0 || strcmp(base, "sub") == 0 || strcmp(base, "fma") == 0) &&
       adds_large(decoder))
      i->flags |= FLAG_ROUNDING_TRICK;
   return true;
}
