/* Branches and calls: labels, tables of them, and the frame offsets between which a call copies arguments and results (PTX ISA
 * 9.0, 9.7.12).  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum decode_result decode_branch(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   i->class = RKB_CLASS_CONTROL;
   i->kind = MACHINE_BRANCH;
   if (decode_operand_count(decoder) != 1 || decoder->operands[0].kind != PTX_OPERAND_LABEL ||
       decoder->function->labels[decoder->operands[0].index].statement == PTX_NONE)
      return decode_refuse(decoder);
   i->target = decoder->operands[0].index;
   return DECODE_DONE;
}

enum decode_result decode_branch_index(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   machine_slot_t slot;
   if (decode_operand_count(decoder) != 2 || decoder->operands[1].kind != PTX_OPERAND_LABEL)
      return decode_refuse(decoder);
   const ptx_label_t *table = &decoder->function->labels[decoder->operands[1].index];
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[0], 'w', &slot));
   decode_place(i, 'a', slot);
   i->class = RKB_CLASS_CONTROL;
   i->kind = MACHINE_BRANCH_INDEX;
   i->target = decoder->target_count;
   if (!table->target_count || table->target_count > UINT16_MAX)
      return decode_refuse(decoder);
   for (uint32_t n = 0; n < table->target_count; n++) {
      uint32_t label = decoder->function->operands[table->target + n].index;
      if (decoder->function->labels[label].statement == PTX_NONE)
         return decode_refuse(decoder);
      if (decoder->target_count == decoder->target_room) {
         uint32_t room = decoder->target_room ? 2 * decoder->target_room : 64;
         uint32_t *larger = realloc(decoder->targets, room * sizeof *larger);
         if (!larger) {
            decoder->program->failed = true;
            return DECODE_FAILED;
         }
         decoder->targets = larger;
         decoder->target_room = room;
      }
      decoder->targets[decoder->target_count++] = label;
   }
   i->extra_count = (uint16_t)table->target_count;
   return DECODE_DONE;
}

/* Finds the frame offset of a variable that passes an argument or a result. */
static bool frame_variable(decoder_t *decoder, const ptx_operand_t *operand, uint32_t *offset,
                           uint32_t *bytes) {
   if (operand->kind != PTX_OPERAND_SYMBOL)
      return decode_unsupported(decoder, "a call whose arguments are no .param variables");
   const ptx_variable_t *variable = &decoder->module->variables[operand->index];
   if (variable->function == PTX_NONE || decoder->function_frame[variable->function] == PTX_NONE ||
       (variable->space != PTX_PARAM && variable->space != PTX_LOCAL))
      return decode_unsupported(decoder, "a call whose arguments are no .param variables");
   *offset = decoder->function_frame[variable->function] + (uint32_t)variable->offset;
   *bytes = (uint32_t)variable->bytes;
   return true;
}

static bool pass(decoder_t *decoder, const ptx_operand_t *list, const uint32_t *variables, uint32_t count,
                 bool result) {
   machine_program_t *program = decoder->program;
   if (list->count != count)
      return decode_unsupported(decoder, "a call with another number of arguments than the function has");
   for (uint32_t n = 0; n < count; n++) {
      uint32_t outer, inner, outer_bytes, inner_bytes;
      ptx_operand_t formal = {.kind = PTX_OPERAND_SYMBOL, .index = variables[n]};
      if (!frame_variable(decoder, &decoder->function->operands[list->first + n], &outer, &outer_bytes) ||
          !frame_variable(decoder, &formal, &inner, &inner_bytes))
         return false;
      uint32_t *larger =
         realloc(program->call_arguments, (program->call_argument_count + 1) * 3 * sizeof *larger);
      if (!larger) {
         program->failed = true;
         return false;
      }
      program->call_arguments = larger;
      uint32_t *triple = larger + 3 * program->call_argument_count++;
      triple[0] = result ? inner : outer;
      triple[1] = result ? outer : inner;
      triple[2] = outer_bytes < inner_bytes ? outer_bytes : inner_bytes;
   }
   return true;
}

enum decode_result decode_call(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   static const ptx_operand_t empty = {.kind = PTX_OPERAND_LIST};
   const ptx_operand_t *results = &empty, *arguments = &empty;
   uint32_t at = 0, count = decode_operand_count(decoder);
   if (at < count && decoder->operands[at].kind == PTX_OPERAND_LIST)
      results = &decoder->operands[at++];
   if (at >= count || decoder->operands[at].kind != PTX_OPERAND_FUNCTION) {
      decode_unsupported(decoder, "function pointer");
      return DECODE_FAILED;
   }
   uint32_t index = decoder->operands[at++].index;
   const ptx_function_t *function = &decoder->module->functions[index];
   if (at < count && decoder->operands[at].kind == PTX_OPERAND_LIST)
      arguments = &decoder->operands[at++];
   i->class = RKB_CLASS_CONTROL;
   if (!function->defined) {
      if (strcmp(function->name, "__assertfail") == 0) {
         i->kind = MACHINE_TRAP;
         return DECODE_DONE;
      }
      char name[96];
      snprintf(name, sizeof name, "call.%.80s", function->name);
      decode_unsupported(decoder, name);
      return DECODE_FAILED;
   }
   if (function->entry || at != count)
      return decode_refuse(decoder);
   i->kind = MACHINE_CALL;
   i->target = index; /* becomes the number of an instruction when all are decoded */
   i->extra = decoder->program->call_argument_count;
   FAIL_UNLESS(pass(decoder, arguments, function->parameters, function->parameter_count, false));
   i->extra_count = (uint16_t)function->parameter_count;
   i->immediate = decoder->program->call_argument_count;
   FAIL_UNLESS(pass(decoder, results, function->results, function->result_count, true));
   i->elements = (uint8_t)function->result_count;
   return function->parameter_count > UINT16_MAX || function->result_count > 255 ? decode_refuse(decoder)
                                                                                 : DECODE_DONE;
}
