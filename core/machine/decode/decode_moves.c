/* Moves that pack and unpack, clocks, and conversions between types (PTX ISA 9.0, 9.7.9.3 and 9.7.9.21).  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <string.h>

enum decode_result decode_move(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   if (decode_operand_count(decoder) != 2)
      return decode_refuse(decoder);
   const ptx_operand_t *to = &decoder->operands[0], *from = &decoder->operands[1];
   machine_slot_t slot;
   if (from->kind == PTX_OPERAND_SPECIAL && from->value >= PTX_SPECIAL_CLOCK &&
       from->value <= PTX_SPECIAL_GLOBALTIMER_HI) {
      FAIL_UNLESS(decode_use(decoder, "clock"));
      FAIL_UNLESS(decode_any(decoder, to, true, &slot) && decode_extra(decoder, slot));
      decoder->program->clocks = true;
      return DECODE_DONE;
   }
   const bool packs = from->kind == PTX_OPERAND_LIST, unpacks = to->kind == PTX_OPERAND_LIST;
   if (!packs && !unpacks)
      return DECODE_GENERIC;
   const ptx_operand_t *list = packs ? from : to, *whole = packs ? to : from;
   uint32_t bytes = ptx_type_bytes(decode_type(decoder, 0));
   if ((packs && unpacks) || list->count == 0 || list->count > 8 || bytes == 0 || bytes > 8 ||
       bytes % list->count)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, packs ? "mov.pack" : "mov.unpack"));
   char letter = bytes == 8 ? 'l' : 'w';
   FAIL_UNLESS(packs ? decode_destination(decoder, whole, letter, &slot)
                     : decode_operand(decoder, whole, letter, &slot));
   FAIL_UNLESS(decode_extra(decoder, slot));
   i->elements = (uint8_t)list->count;
   i->element_bytes = (uint8_t)(bytes / list->count);
   for (uint32_t e = 0; e < list->count; e++) {
      const ptx_operand_t *part = decoder->function->operands + list->first + e;
      FAIL_UNLESS(packs ? decode_operand(decoder, part, i->element_bytes == 8 ? 'l' : 'w', &slot)
                        : decode_destination(decoder, part, i->element_bytes == 8 ? 'l' : 'w', &slot));
      FAIL_UNLESS(decode_extra(decoder, slot));
   }
   return DECODE_DONE;
}

static bool conversion_modifiers(decoder_t *decoder, bool *integral, bool *plain) {
   static const struct {
      const char *name;
      uint8_t rounding;
      bool integral;
   } roundings[] = {{"rn", ROUND_NEAREST, false}, {"rz", ROUND_ZERO, false},  {"rm", ROUND_DOWN, false},
                    {"rp", ROUND_UP, false},      {"rna", ROUND_AWAY, false}, {"rni", ROUND_NEAREST, true},
                    {"rzi", ROUND_ZERO, true},    {"rmi", ROUND_DOWN, true},  {"rpi", ROUND_UP, true}};
   machine_instruction_t *i = &decoder->instruction;
   uint16_t before = i->flags;
   *integral = false;
   for (uint32_t n = 1; n < decoder->modifier_count; n++) {
      const char *modifier = decoder->modifiers[n];
      bool known = ptx_type_named(modifier, strlen(modifier)) != 0 || strcmp(modifier, "tf32") == 0;
      for (size_t k = 0; k < sizeof roundings / sizeof roundings[0]; k++)
         if (strcmp(modifier, roundings[k].name) == 0) {
            i->rounding = roundings[k].rounding;
            *integral = roundings[k].integral;
            known = true;
         }
      if (strcmp(modifier, "ftz") == 0) {
         i->flags |= FLAG_FTZ;
         known = true;
      } else if (strcmp(modifier, "sat") == 0) {
         i->flags |= FLAG_SAT;
         known = true;
      } else if (strcmp(modifier, "relu") == 0) {
         i->flags |= FLAG_ABS;
         known = true;
      }
      if (!known)
         return false;
   }
   *plain = i->flags == before && i->rounding == ROUND_NEAREST && !*integral;
   return true;
}

/* A conversion whose whole opcode is a row's key. */
enum decode_result decode_conversion_row(decoder_t *decoder, const char *key) {
   const machine_opcode_t *row = decode_lookup(decoder, key);
   if (!row || decode_operand_count(decoder) != strlen(row->signature))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, row->key));
   for (uint32_t n = 0; n < decode_operand_count(decoder); n++) {
      machine_slot_t slot;
      FAIL_UNLESS(n ? decode_operand(decoder, &decoder->operands[n], row->signature[n], &slot)
                    : decode_destination(decoder, &decoder->operands[n], 'w', &slot));
      decode_place(&decoder->instruction, "dabc"[n], slot);
   }
   return DECODE_DONE;
}

/* To and from pairs of 8-bit floats, with or without .relu. */
static enum decode_result conversion_of_eight(decoder_t *decoder) {
   char key[64] = "";
   size_t length = 0;
   for (uint32_t n = 0; n < decoder->modifier_count && length < sizeof key; n++)
      if (strcmp(decoder->modifiers[n], "relu") == 0)
         decoder->instruction.flags |= FLAG_ABS;
      else
         length +=
            (size_t)snprintf(key + length, sizeof key - length, "%s%s", n ? "." : "", decoder->modifiers[n]);
   return decode_conversion_row(decoder, key);
}

enum decode_result decode_conversion(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   bool integral, plain;
   if (decode_modifier(decoder, "e4m3x2") || decode_modifier(decoder, "e5m2x2"))
      return conversion_of_eight(decoder);
   if (!conversion_modifiers(decoder, &integral, &plain) || decode_operand_count(decoder) < 2)
      return decode_refuse(decoder);
   machine_slot_t d, a, b;
   if (decode_modifier(decoder, "tf32")) {
      FAIL_UNLESS(decode_use(decoder, "cvt.tf32"));
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], 'w', &d));
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[1], 'f', &a));
      decode_place(i, 'd', d);
      decode_place(i, 'a', a);
      if (i->flags & FLAG_ABS)
         i->shadow = NULL;
      return decode_operand_count(decoder) == 2 ? DECODE_DONE : decode_refuse(decoder);
   }
   uint32_t source = decode_type(decoder, 0), type = decode_type(decoder, 1);
   if (!type)
      return decode_refuse(decoder);
   if (decode_operand_count(decoder) == 3) {
      if ((type != PTX_F16X2 && type != PTX_BF16X2) || source != PTX_F32 || (i->flags & FLAG_SAT))
         return decode_refuse(decoder);
      FAIL_UNLESS(decode_use(decoder, plain && type == PTX_BF16X2 ? "cvt.bf16x2.f32" : "cvt.packed"));
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], 'w', &d));
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[1], 'f', &a));
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[2], 'f', &b));
      i->type = (uint8_t)type;
      decode_place(i, 'd', d);
      decode_place(i, 'a', a);
      decode_place(i, 'b', b);
      return DECODE_DONE;
   }
   uint32_t to_bytes = decode_declared_bytes(decoder, &decoder->operands[0]);
   uint32_t from_bytes = decode_declared_bytes(decoder, &decoder->operands[1]);
   if (decode_operand_count(decoder) != 2 || !to_bytes ||
       ((i->flags & FLAG_ABS) && (source != PTX_F32 || (type != PTX_F16 && type != PTX_BF16))) ||
       type == PTX_F16X2 || type == PTX_BF16X2 || source == PTX_F16X2 || source == PTX_BF16X2 ||
       type == PTX_PRED || source == PTX_PRED || to_bytes < ptx_type_bytes(type) ||
       (from_bytes && from_bytes < ptx_type_bytes(source)))
      return decode_refuse(decoder);
   char key[64];
   snprintf(key, sizeof key, "cvt%s.%s.%s", i->flags & FLAG_SAT ? ".sat" : "", ptx_type_name(type),
            ptx_type_name(source));
   const machine_opcode_t *fast = decode_lookup(decoder, key);
   uint16_t careful = i->flags & ~FLAG_SAT;
   if (fast && !careful && !integral && i->rounding == ROUND_NEAREST && to_bytes == ptx_type_bytes(type) &&
       (!from_bytes || from_bytes == ptx_type_bytes(source))) {
      FAIL_UNLESS(decode_use(decoder, key));
   } else if (source == PTX_F32 && (type == PTX_F16 || type == PTX_BF16) && to_bytes <= 4) {
      FAIL_UNLESS(decode_use(decoder, "cvt.narrow"));
      i->operation = integral;
   } else {
      FAIL_UNLESS(decode_use(decoder, "cvt"));
      i->operation = integral;
   }
   i->type = (uint8_t)type;
   i->source_type = (uint8_t)source;
   if (source == PTX_F64)
      i->flags |= FLAG_FROM_DOUBLE;
   i->element_bytes = (uint8_t)to_bytes;
   char from = source == PTX_F32 ? 'f' : source == PTX_F64 ? 'D' : ptx_type_bytes(source) == 8 ? 'l' : 'w';
   if (from_bytes == 8)
      from = 'l';
   i->elements = from == 'l' || from == 'D' ? 8 : 4;
   FAIL_UNLESS(decode_destination(decoder, &decoder->operands[0], to_bytes == 8 ? 'l' : 'w', &d));
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[1], from, &a));
   decode_place(i, 'd', d);
   decode_place(i, 'a', a);
   return DECODE_DONE;
}
