/* Asynchronous copies of single threads: cp.async, its groups and waits (PTX ISA 9.0, 9.7.9.25.3).  Part of the decoder.
 *
 *    cp.async.{ca,cg}.shared.global[.L2 hints] [dst], [src], size[, source size | ignore predicate][, cache policy] */
#include "machine/decode/decode.h"

#include <stdlib.h>
#include <string.h>

static bool copies_known_way(const decoder_t *decoder) {
   bool all = true;
   for (uint32_t n = 2; n < decoder->modifier_count; n++) {
      const char *word = decoder->modifiers[n];
      all &= strcmp(word, "ca") == 0 || strcmp(word, "cg") == 0 || strcmp(word, "shared") == 0 ||
             strcmp(word, "shared::cta") == 0 || strcmp(word, "global") == 0 || strncmp(word, "L2::", 4) == 0;
   }
   return all && (decode_modifier(decoder, "ca") || decode_modifier(decoder, "cg")) &&
          decode_modifier(decoder, "global");
}

static bool is_predicate(const decoder_t *decoder, const ptx_operand_t *operand) {
   return operand->kind == PTX_OPERAND_REGISTER &&
          decoder->function->registers[operand->index].type == PTX_PRED;
}

/* Finds how much of the source is read: all, so many bytes, or nothing where a predicate holds. */
static bool source_part(decoder_t *decoder, const ptx_operand_t *operand) {
   machine_instruction_t *i = &decoder->instruction;
   const bool predicate = is_predicate(decoder, operand);
   machine_slot_t slot;
   if (!decode_operand(decoder, operand, predicate ? 'q' : 'w', &slot))
      return false;
   decode_place(i, 'c', slot);
   i->type = predicate ? COPY_UNLESS : COPY_PART;
   return true;
}

static enum decode_result copy(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   const ptx_operand_t *operands = decoder->operands;
   const uint32_t hints = decode_modifier(decoder, "L2::cache_hint"), count = decode_operand_count(decoder);
   if (!copies_known_way(decoder) || count < 3 + hints || count > 4 + hints ||
       operands[2].kind != PTX_OPERAND_INTEGER ||
       (operands[2].value != 4 && operands[2].value != 8 && operands[2].value != 16) ||
       (decode_modifier(decoder, "cg") && operands[2].value != 16))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "cp.async") && decode_address(decoder, &operands[0]));
   const machine_slot_t to = {.offset = i->a, .number = i->ai};
   const uint32_t offset = (uint32_t)i->immediate;
   const uint8_t address_bytes = i->address_bytes;
   FAIL_UNLESS(decode_address(decoder, &operands[1]));
   decode_place(i, 'b', to);
   i->target = offset;
   i->source_type = address_bytes;
   i->type = COPY_WHOLE;
   if (count == 4 + hints)
      FAIL_UNLESS(source_part(decoder, &operands[3]));
   i->operation = (uint8_t)operands[2].value;
   i->space = PTX_GLOBAL;
   i->class = RKB_CLASS_GLOBAL;
   decoder->program->copies = true;
   decoder->program->narrow_shared |= i->operation != 16;
   return DECODE_DONE;
}

static enum decode_result wait(decoder_t *decoder, bool all) {
   machine_instruction_t *i = &decoder->instruction;
   if (decoder->modifier_count != 3 || decode_operand_count(decoder) != !all ||
       (!all && decoder->operands[0].kind != PTX_OPERAND_INTEGER))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, "cp.async.wait_group"));
   i->immediate = all ? 0
                      : (int64_t)(decoder->operands[0].value < UINT32_MAX / 2 ? decoder->operands[0].value
                                                                              : UINT32_MAX / 2);
   i->operation = all;
   return DECODE_DONE;
}

enum decode_result decode_copy(decoder_t *decoder) {
   const char *what = decoder->modifier_count > 2 ? decoder->modifiers[2] : "";
   if (decode_modifier(decoder, "bulk"))
      return decode_bulk(decoder, decode_modifier(decoder, "reduce"));
   if (decoder->modifier_count < 3 || strcmp(decoder->modifiers[1], "async") != 0)
      return decode_refuse(decoder);
   if (strcmp(what, "commit_group") == 0)
      return decode_operand_count(decoder) == 0 && decode_use(decoder, "cp.async.commit_group")
                ? DECODE_DONE
                : decode_refuse(decoder);
   if (strcmp(what, "wait_group") == 0 || strcmp(what, "wait_all") == 0)
      return wait(decoder, what[5] == 'a');
   if (strcmp(what, "mbarrier") == 0)
      return decode_copy_arrival(decoder);
   return copy(decoder);
}
