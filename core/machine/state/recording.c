/* Decides which programs can be recorded, and owns the memory of a record.  On the machine's thread. */
#include "machine/state/recording.h"

#include <stdlib.h>

/* The condition code goes from instruction to instruction outside of registers, and a record gives values
 * only to registers. */
static bool carries(const char *opcode) {
   return strstr(opcode, ".cc") || strncmp(opcode, "addc", 4) == 0 || strncmp(opcode, "subc", 4) == 0 ||
          strncmp(opcode, "madc", 4) == 0;
}

bool machine_recordable(const machine_program_t *program) {
   if (program->atomics || program->strong || program->waits || program->clocks || program->asynchronous ||
       program->cluster_barriers || program->unsupported[0] || program->call_argument_count ||
       program->count >= 1u << 24)
      return false;
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind == MACHINE_CALL || (i->kind == MACHINE_BARRIER && i->operation > BARRIER_ARRIVE) ||
          (i->kind == MACHINE_CUSTOM && carries(machine_opcode_of(program, i))))
         return false;
   }
   return true;
}

static bool make_room(void **memory, size_t *room, size_t bytes) {
   if (bytes <= *room)
      return true;
   void *larger = realloc(*memory, bytes);
   if (!larger)
      return false;
   *memory = larger;
   *room = bytes;
   return true;
}

bool machine_record_begin(machine_record_t *record, const machine_program_t *program) {
   const size_t registers = program->register_count;
   if (record->program == program)
      return true;
   record->program = NULL;
   if (!make_room((void **)&record->kinds, &record->kinds_room, program->count) ||
       !make_room((void **)&record->operands, &record->operands_room,
                  program->count * sizeof *record->operands) ||
       !make_room((void **)&record->stale, &record->stale_room, registers * MAX_WARPS) ||
       !make_room((void **)&record->ones, &record->ones_room, registers * sizeof *record->ones))
      return false;
   record->program = program;
   for (uint32_t n = 0; n < program->count; n++) {
      record->kinds[n] = machine_operands_kind(program, &program->code[n]);
      record->operands[n] = machine_operands(program, &program->code[n], record->kinds[n]);
   }
   return true;
}

void machine_record_block(machine_record_t *record, machine_block_t *block) {
   const machine_program_t *program = block->launch->program;
   const size_t registers = program->register_count;
   record->count = 0;
   record->warp = PTX_NONE;
   record->full = false;
   memset(record->stale, 1, registers);
   record->stale[0] = 0;
   for (uint32_t n = 0; n < program->constant_count; n++) /* every run sets these itself */
      record->stale[program->constants[n]] = 0;
   for (uint32_t w = 0; w < block->warp_count; w++) {
      block->warps[w].stale = record->stale + w * registers;
      if (w > 0)
         memcpy(block->warps[w].stale, record->stale, registers);
   }
}

void machine_record_free(machine_record_t *record) {
   if (!record)
      return;
   free(record->kinds);
   free(record->operands);
   free(record->words);
   free(record->stale);
   free(record->ones);
   free(record);
}
