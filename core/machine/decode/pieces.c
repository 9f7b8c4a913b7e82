/* Finds programs that read memory and write it in several operations that other threads may come between: programs in which an atomic operation, or a
 * volatile, relaxed or acquiring load, reads a value, and another such operation writes.  Their basic blocks are divided in front of each such
 * operation, and in front of instructions in which the lanes of a warp take part together.  So warps, blocks and lanes can be interrupted there
 * (execute/interruptions.c).  On the thread that decodes. */
#include "machine/decode/operands.h"

#include <stdlib.h>

#define STRONG (FLAG_VOLATILE | FLAG_RELAXED | FLAG_ACQUIRE | FLAG_RELEASE)

/* Whether it is an atomic operation, or a load or store whose effect other threads may see without a barrier. */
static bool is_strong(const machine_instruction_t *i) {
   return i->kind == MACHINE_CUSTOM && i->element_bytes && i->space != PTX_LOCAL && i->space != PTX_PARAM &&
          i->space != PTX_CONST &&
          (i->class == RKB_CLASS_ATOMIC ||
           ((i->class == RKB_CLASS_GLOBAL || i->class == RKB_CLASS_SHARED) && (i->flags & STRONG)));
}

static bool reads_strongly(const machine_program_t *program, const machine_instruction_t *i) {
   return is_strong(i) && (i->class == RKB_CLASS_ATOMIC ? program->extras[i->extra].number >
                                                             1 /* register 1 is written and never read */
                                                        : machine_operands_kind(program, i) == RECORD_LOAD);
}

static bool writes_strongly(const machine_program_t *program, const machine_instruction_t *i) {
   return is_strong(i) && (i->class == RKB_CLASS_ATOMIC || machine_operands_kind(program, i) == RECORD_STORE);
}

/* Whether each lane executes the instruction by itself, whatever the others do. */
static bool is_for_each_lane(const machine_program_t *program, const machine_instruction_t *i) {
   if (i->kind == MACHINE_NOTHING || i->kind == MACHINE_VALUE || i->kind == MACHINE_BRANCH ||
       i->kind == MACHINE_BRANCH_INDEX || i->kind == MACHINE_EXIT)
      return true;
   const uint8_t kind = i->kind == MACHINE_CUSTOM ? machine_operands_kind(program, i) : RECORD_OTHER;
   return i->kind == MACHINE_CUSTOM && (i->class <= RKB_CLASS_CONVERT || i->class == RKB_CLASS_ATOMIC ||
                                        kind == RECORD_LOAD || kind == RECORD_STORE);
}

void machine_divide_pieces(machine_program_t *program) {
   uint32_t reads = 0, writes = 0, both = 0;
   for (uint32_t n = 0; n < program->count; n++) {
      const bool read = reads_strongly(program, &program->code[n]),
                 written = writes_strongly(program, &program->code[n]);
      reads += read;
      writes += written;
      both += read && written;
   }
   /* One operation that does both is no two. */
   program->pieces = reads && writes && reads + writes - both > 1;
   for (uint32_t n = 1; program->pieces && n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      program->code[n].block_start |=
         is_strong(i) || (!is_for_each_lane(program, i) && is_for_each_lane(program, i - 1));
   }
}

bool machine_mark_pieces(machine_program_t *program) {
   uint32_t *before = program->pieces ? calloc(program->block_count + 1, sizeof *before) : NULL, next;
   if (!program->pieces)
      return true;
   if (!before)
      return false;
   for (uint32_t b = 0; b < program->block_count; b++)
      for (uint32_t k = 0; (next = machine_successor(program, b, k)) != PTX_NONE; k++)
         before[next]++;
   for (uint32_t b = 0; b < program->block_count; b++) {
      machine_block_info_t *info = &program->blocks[b];
      const machine_instruction_t *i = &program->code[info->first];
      info->interrupts = is_strong(i);
      for (uint32_t n = 0; n < info->count; n++)
         info->together |= !is_for_each_lane(program, i + n);
      /* A branch's target has two ways to it, or its own branch and nothing before it. */
      info->goes_on = before[b] == 1 && b > 0 && machine_successor(program, b - 1, 0) == b &&
                      machine_successor(program, b - 1, 1) == PTX_NONE && i[-1].kind <= MACHINE_CUSTOM;
   }
   free(before);
   return true;
}
