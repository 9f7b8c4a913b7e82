/* Opcodes whose operands need a layout of their own: moves, conversions, warp operations, control flow.  Part of the
 * decoder. */
#include "decode.h"

#include "execution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Moves and conversions ------------------------------------------------------------------------------------- */

static enum decode_result move(decoder_t *decoder) {
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
static enum decode_result conversion_row(decoder_t *decoder, const char *key) {
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
   return conversion_row(decoder, key);
}

static enum decode_result conversion(decoder_t *decoder) {
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
   uint16_t careful = i->flags & ~(FLAG_INLINE | FLAG_SAT);
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

/* Comparisons: [comparison][.combination][.ftz].type d[|p], a, b[, c] ------------------------------------------ */

static enum decode_result comparison(decoder_t *decoder, bool set) {
   static const char *const names[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                       "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
   machine_instruction_t *i = &decoder->instruction;
   int operation = -1, combination = 0;
   for (uint32_t n = 1; n < decoder->modifier_count; n++) {
      const char *modifier = decoder->modifiers[n];
      for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
         if (operation < 0 && strcmp(modifier, names[k]) == 0)
            operation = (int)k;
      if (strcmp(modifier, "and") == 0 || strcmp(modifier, "or") == 0 || strcmp(modifier, "xor") == 0)
         combination = modifier[0] == 'a' ? 1 : modifier[0] == 'o' ? 2 : 3;
      if (strcmp(modifier, "ftz") == 0)
         i->flags |= FLAG_FTZ;
   }
   uint32_t type = decode_type(decoder, 0);
   char key[64];
   uint32_t result = set ? decode_type(decoder, 1) : 0;
   if (set)
      snprintf(key, sizeof key, "set.%s.%s", ptx_type_name(result), ptx_type_name(type));
   else
      snprintf(key, sizeof key, "setp.%s", ptx_type_name(type));
   const machine_opcode_t *row = decode_lookup(decoder, key);
   if (!row || operation < 0 ||
       (ptx_type_is_float(type) ? operation >= 6 && operation <= 9 : operation >= 10))
      return decode_refuse(decoder);
   uint16_t flags = i->flags;
   FAIL_UNLESS(decode_use(decoder, key));
   i->flags = flags;
   i->operation = (uint8_t)operation;
   i->rounding = (uint8_t)combination;
   uint32_t at = 0;
   machine_slot_t slot;
   FAIL_UNLESS(at < decode_operand_count(decoder) &&
               decode_destination(decoder, &decoder->operands[at++], row->signature[0], &slot));
   decode_place(i, 'd', slot);
   if (!set && at < decode_operand_count(decoder) && decoder->operands[at].paired) {
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[at++], 'p', &slot) &&
                  decode_extra(decoder, slot));
      i->flags |= FLAG_SECOND;
   }
   if (decode_operand_count(decoder) != at + 2 + (combination ? 1 : 0))
      return decode_refuse(decoder);
   for (uint32_t n = 0; n < 2; n++) {
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at++], row->signature[1 + n], &slot));
      decode_place(i, n ? 'b' : 'a', slot);
   }
   if (combination) {
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at], 'q', &slot));
      decode_place(i, 'c', slot);
   }
   return DECODE_DONE;
}

/* Warp operations ----------------------------------------------------------------------------------------------- */

static enum decode_result warp_operation(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   const char *base = decoder->modifiers[0];
   char key[128];
   snprintf(key, sizeof key, "%s", decoder->statement->opcode);
   if (strcmp(key, "vote.ballot.sync.b32") == 0)
      snprintf(key, sizeof key, "vote.sync.ballot.b32");
   if (strncmp(key, "match.sync.", 11) == 0)
      return decode_refuse(decoder);
   const machine_opcode_t *row = decode_lookup(decoder, key);
   if (!row)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, key));
   uint32_t at = 0, count = decode_operand_count(decoder);
   machine_slot_t slot;
   const bool shuffles = strcmp(base, "shfl") == 0, matches = strcmp(base, "match") == 0,
              votes = strcmp(base, "vote") == 0;
   const bool elects = strcmp(base, "elect") == 0;
   if (count < 2)
      return decode_refuse(decoder);
   char to = votes && i->operation != 3 ? 'p' : 'w';
   FAIL_UNLESS(decode_destination(decoder, &decoder->operands[at++], to, &slot));
   decode_place(i, 'd', slot);
   if (at < count && decoder->operands[at].paired) {
      FAIL_UNLESS(shuffles || matches || elects);
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[at++], 'p', &slot) &&
                  decode_extra(decoder, slot));
      i->flags |= FLAG_SECOND;
   } else if (elects) {
      return decode_refuse(decoder);
   }
   uint32_t sources = shuffles ? 3 : elects ? 0 : 1;
   if (count != at + sources + 1)
      return decode_refuse(decoder);
   bool wide = matches && decode_type(decoder, 0) == PTX_B64;
   i->element_bytes = wide ? 8 : 4;
   for (uint32_t n = 0; n < sources; n++) {
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at++], votes ? 'q' : wide ? 'l' : 'w', &slot));
      if (votes && slot.negated)
         i->flags |= FLAG_NEGATED_C;
      slot.negated = false;
      decode_place(i, (char)('a' + n), slot);
   }
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at], 'w', &slot) && decode_extra(decoder, slot));
   return DECODE_DONE;
}

/* Barriers: bar.sync a[, b];  bar.arrive a, b;  bar.red.op.type d, a[, b], [!]p;  barrier[.cta] likewise --------- */

static enum decode_result barrier(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   machine_slot_t slot;
   if (decode_modifier(decoder, "warp")) {
      FAIL_UNLESS(decode_operand_count(decoder) == 1 && decode_use(decoder, "bar.warp.sync"));
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[0], 'w', &slot));
      decode_place(i, 'a', slot);
      decoder->program->warp_sync = true;
      return DECODE_DONE;
   }
   if (decode_modifier(decoder, "cluster"))
      return decode_refuse(decoder);
   const bool reduces = decode_modifier(decoder, "red"), arrives = decode_modifier(decoder, "arrive");
   if (!reduces && !arrives && !decode_modifier(decoder, "sync"))
      return decode_refuse(decoder);
   i->kind = MACHINE_BARRIER;
   i->class = RKB_CLASS_BARRIER;
   i->operation = arrives                            ? BARRIER_ARRIVE
                  : !reduces                         ? BARRIER_SYNC
                  : decode_modifier(decoder, "popc") ? BARRIER_COUNT
                  : decode_modifier(decoder, "and")  ? BARRIER_AND
                                                     : BARRIER_OR;
   if (strcmp(decoder->modifiers[0], "bar") == 0 || decode_modifier(decoder, "aligned"))
      i->flags |= FLAG_ALIGNED;
   uint32_t at = 0, count = decode_operand_count(decoder);
   if (reduces) {
      FAIL_UNLESS(count >= 3);
      FAIL_UNLESS(decode_destination(decoder, &decoder->operands[at++],
                                     i->operation == BARRIER_COUNT ? 'w' : 'p', &slot));
      decode_place(i, 'd', slot);
      count--;
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[count], 'q', &slot));
      decode_place(i, 'c', slot);
   }
   if (at >= count || count - at > 2)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at++], 'w', &slot));
   decode_place(i, 'a', slot);
   if (at < count) {
      FAIL_UNLESS(decode_operand(decoder, &decoder->operands[at], 'w', &slot));
      decode_place(i, 'b', slot);
      decoder->program->named_barriers = true;
   } else if (arrives) {
      return decode_refuse(decoder);
   }
   if (i->ai && (!decoder->program->registers[i->ai].constant || decoder->program->registers[i->ai].bits))
      decoder->program->named_barriers = true;
   return DECODE_DONE;
}

/* Control flow ---------------------------------------------------------------------------------------------------- */

static enum decode_result branch(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   i->class = RKB_CLASS_CONTROL;
   i->kind = MACHINE_BRANCH;
   if (decode_operand_count(decoder) != 1 || decoder->operands[0].kind != PTX_OPERAND_LABEL ||
       decoder->function->labels[decoder->operands[0].index].statement == PTX_NONE)
      return decode_refuse(decoder);
   i->target = decoder->operands[0].index;
   return DECODE_DONE;
}

static enum decode_result branch_index(decoder_t *decoder) {
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

/* Frame offset of a variable that passes an argument or a result. */
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

static enum decode_result call(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   static const ptx_operand_t empty = {.kind = PTX_OPERAND_LIST};
   const ptx_operand_t *results = &empty, *arguments = &empty;
   uint32_t at = 0, count = decode_operand_count(decoder);
   if (at < count && decoder->operands[at].kind == PTX_OPERAND_LIST)
      results = &decoder->operands[at++];
   if (at >= count || decoder->operands[at].kind != PTX_OPERAND_FUNCTION) {
      decode_unsupported(decoder, "call.indirect");
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
   i->target = index; /* becomes an instruction when all are decoded */
   i->extra = decoder->program->call_argument_count;
   FAIL_UNLESS(pass(decoder, arguments, function->parameters, function->parameter_count, false));
   i->extra_count = (uint16_t)function->parameter_count;
   i->immediate = decoder->program->call_argument_count;
   FAIL_UNLESS(pass(decoder, results, function->results, function->result_count, true));
   i->elements = (uint8_t)function->result_count;
   return function->parameter_count > UINT16_MAX || function->result_count > 255 ? decode_refuse(decoder)
                                                                                 : DECODE_DONE;
}

static enum decode_result without_effect(decoder_t *decoder) {
   decoder->instruction.kind = MACHINE_NOTHING;
   decoder->instruction.class = RKB_CLASS_OTHER;
   return DECODE_DONE;
}

static enum decode_result leave(decoder_t *decoder, uint32_t kind) {
   decoder->instruction.kind = (uint8_t)kind;
   decoder->instruction.class = RKB_CLASS_CONTROL;
   return DECODE_DONE;
}

enum decode_result decode_form(decoder_t *decoder) {
   static const char *const nothing[] = {"prefetch",  "prefetchu", "discard",        "applypriority",
                                         "nanosleep", "pmevent",   "griddepcontrol", NULL};
   const char *base = decoder->modifiers[0];
   if (strcmp(base, "ld") == 0 || strcmp(base, "ldu") == 0)
      return decode_memory_operation(decoder, false);
   if (strcmp(base, "st") == 0)
      return decode_memory_operation(decoder, true);
   if (strcmp(base, "atom") == 0 || strcmp(base, "red") == 0)
      return decode_modifier(decoder, "async") ? decode_refuse(decoder)
                                               : decode_atomic_operation(decoder, base[0] == 'r');
   if (strcmp(base, "mov") == 0)
      return move(decoder);
   if (strcmp(base, "cvt") == 0)
      return decode_modifier(decoder, "pack") ? conversion_row(decoder, decoder->statement->opcode)
                                              : conversion(decoder);
   if (strcmp(base, "setp") == 0 || strcmp(base, "set") == 0)
      return comparison(decoder, base[3] == '\0');
   if (strcmp(base, "shfl") == 0 || strcmp(base, "vote") == 0 || strcmp(base, "match") == 0 ||
       strcmp(base, "redux") == 0 || strcmp(base, "elect") == 0)
      return warp_operation(decoder);
   if (strcmp(base, "bar") == 0 || strcmp(base, "barrier") == 0)
      return barrier(decoder);
   if (strcmp(base, "membar") == 0 || strcmp(base, "fence") == 0) {
      if (decode_modifier(decoder, "proxy") || decode_modifier(decoder, "mbarrier_init"))
         return decode_refuse(decoder);
      if (!decode_use(decoder, "fence"))
         return DECODE_FAILED;
      /* One for the block alone orders nothing for other blocks, and inside a block barriers are what orders. */
      if (decode_modifier(decoder, "cta"))
         decoder->instruction.kind = MACHINE_NOTHING;
      else
         decoder->program->fences = true;
      return DECODE_DONE;
   }
   if (strcmp(base, "bra") == 0)
      return branch(decoder);
   if (strcmp(base, "brx") == 0)
      return branch_index(decoder);
   if (strcmp(base, "call") == 0)
      return call(decoder);
   if (strcmp(base, "ret") == 0)
      return leave(decoder, decoder->function->entry ? MACHINE_EXIT : MACHINE_RETURN);
   if (strcmp(base, "exit") == 0)
      return leave(decoder, MACHINE_EXIT);
   if (strcmp(base, "trap") == 0 || strcmp(base, "brkpt") == 0)
      return leave(decoder, MACHINE_TRAP);
   for (size_t n = 0; nothing[n]; n++)
      if (strcmp(base, nothing[n]) == 0)
         return without_effect(decoder);
   return DECODE_GENERIC;
}
