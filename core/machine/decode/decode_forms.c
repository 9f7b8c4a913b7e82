/* Opcodes whose operands need a layout of their own: comparisons, warp operations, barriers; and which files
 * have the other opcodes.  Part of the decoder. */
#include "machine/decode/decode.h"

#include <stdio.h>
#include <string.h>

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
   if (decode_operand_count(decoder) < 3)
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_destination(decoder, &decoder->operands[at++], row->signature[0], &slot));
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
      const ptx_operand_t *operand = &decoder->operands[at++];
      FAIL_UNLESS(n ? decode_known_operand(decoder, operand, 'w', &slot)
                    : decode_operand(decoder, operand,
                                     votes  ? 'q'
                                     : wide ? 'l'
                                            : 'w',
                                     &slot));
      if (votes && slot.negated)
         i->flags |= FLAG_NEGATED_C;
      slot.negated = false;
      decode_place(i, (char)('a' + n), slot);
   }
   FAIL_UNLESS(decode_known_operand(decoder, &decoder->operands[at], 'w', &slot) &&
               decode_extra(decoder, slot));
   return DECODE_DONE;
}

/* Barriers: bar.sync a[, b];  bar.arrive a, b;  bar.red.op.type d, a[, b], [!]p;  barrier[.cta] likewise --------- */

/* barrier.cluster.arrive[.release | .relaxed][.aligned];  barrier.cluster.wait[.acquire][.aligned] */
static enum decode_result cluster_barrier(decoder_t *decoder) {
   const bool waits = decode_modifier(decoder, "wait");
   if (decode_operand_count(decoder) || (!waits && !decode_modifier(decoder, "arrive")))
      return decode_refuse(decoder);
   FAIL_UNLESS(decode_use(decoder, waits ? "barrier.cluster.wait" : "barrier.cluster.arrive"));
   decoder->instruction.flags |= decode_modifier(decoder, "aligned") ? FLAG_ALIGNED : 0;
   decoder->instruction.flags |= decode_modifier(decoder, "relaxed") ? FLAG_RELAXED : 0;
   decoder->program->relaxed_arrivals |= !waits && decode_modifier(decoder, "relaxed");
   decoder->program->cluster_barriers = true;
   return DECODE_DONE;
}

static enum decode_result barrier(decoder_t *decoder) {
   machine_instruction_t *i = &decoder->instruction;
   machine_slot_t slot;
   if (decode_modifier(decoder, "warp")) {
      FAIL_UNLESS(decode_operand_count(decoder) == 1 && decode_use(decoder, "bar.warp.sync"));
      FAIL_UNLESS(decode_known_operand(decoder, &decoder->operands[0], 'w', &slot));
      decode_place(i, 'a', slot);
      decoder->program->warp_sync = true;
      return DECODE_DONE;
   }
   if (decode_modifier(decoder, "cluster"))
      return cluster_barrier(decoder);
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

/* Which form an opcode has -------------------------------------------------------------------------------------- */

static enum decode_result without_effect(decoder_t *decoder) {
   decoder->instruction.kind = MACHINE_NOTHING;
   decoder->instruction.class = RKB_CLASS_OTHER;
   return DECODE_DONE;
}

/* Allowing dependent launches to begin orders none of this launch's accesses before theirs. */
static enum decode_result grid_dependency(decoder_t *decoder) {
   if (decode_modifier(decoder, "launch_dependents"))
      return without_effect(decoder);
   return decode_modifier(decoder, "wait") && decode_use(decoder, "griddepcontrol.wait")
             ? DECODE_DONE
             : decode_refuse(decoder);
}

static enum decode_result leave(decoder_t *decoder, uint32_t kind) {
   decoder->instruction.kind = (uint8_t)kind;
   decoder->instruction.class = RKB_CLASS_CONTROL;
   return DECODE_DONE;
}

enum decode_result decode_form(decoder_t *decoder) {
   static const char *const nothing[] = {"prefetch",  "prefetchu", "discard", "applypriority",
                                         "nanosleep", "pmevent",   NULL};
   const char *base = decoder->modifiers[0];
   if (strcmp(base, "ld") == 0 || strcmp(base, "ldu") == 0)
      return decode_memory_operation(decoder, false);
   if ((strcmp(base, "st") == 0 || strcmp(base, "red") == 0) && decode_modifier(decoder, "async"))
      return decode_store_async(decoder, base[0] == 'r');
   if (strcmp(base, "st") == 0)
      return decode_memory_operation(decoder, true);
   if (strcmp(base, "atom") == 0 || strcmp(base, "red") == 0)
      return decode_atomic_operation(decoder, base[0] == 'r');
   if (strcmp(base, "mov") == 0)
      return decode_move(decoder);
   if (strcmp(base, "cvt") == 0)
      return decode_modifier(decoder, "pack") ? decode_conversion_row(decoder, decoder->statement->opcode)
                                              : decode_conversion(decoder);
   if (strcmp(base, "setp") == 0 || strcmp(base, "set") == 0)
      return comparison(decoder, base[3] == '\0');
   if (strcmp(base, "shfl") == 0 || strcmp(base, "vote") == 0 || strcmp(base, "match") == 0 ||
       strcmp(base, "redux") == 0 || strcmp(base, "elect") == 0)
      return warp_operation(decoder);
   if (strcmp(base, "mma") == 0 || strcmp(base, "wmma") == 0 || strcmp(base, "ldmatrix") == 0 ||
       strcmp(base, "stmatrix") == 0 || strcmp(base, "movmatrix") == 0)
      return decode_tensor(decoder);
   if (strcmp(base, "tensormap") == 0)
      return decode_tensor_map(decoder);
   if (strcmp(base, "wgmma") == 0)
      return decode_warpgroup(decoder);
   if (strcmp(base, "setmaxnreg") == 0)
      return decode_register_count(decoder);
   if (strcmp(base, "cp") == 0)
      return decode_copy(decoder);
   if (strcmp(base, "bar") == 0 || strcmp(base, "barrier") == 0)
      return barrier(decoder);
   if (strcmp(base, "membar") == 0 || strcmp(base, "fence") == 0)
      return decode_fence(decoder);
   if (strcmp(base, "mbarrier") == 0)
      return decode_mbarrier(decoder);
   if (strcmp(base, "griddepcontrol") == 0)
      return grid_dependency(decoder);
   if (strcmp(base, "bra") == 0)
      return decode_branch(decoder);
   if (strcmp(base, "brx") == 0)
      return decode_branch_index(decoder);
   if (strcmp(base, "call") == 0)
      return decode_call(decoder);
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
