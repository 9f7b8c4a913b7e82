/* Which programs can be recorded, and what lanes/record.c has to know of each instruction.  Memory of a record. */
#include "record.h"

#include <stdlib.h>

static const char *opcode_of(const machine_program_t *program, const machine_instruction_t *i) {
   return program->module->functions[i->function].statements[i->statement].opcode;
}

static bool begins(const char *text, const char *with) {
   return strncmp(text, with, strlen(with)) == 0;
}

/* The condition code passes from instruction to instruction outside of registers, which are what a record gives values to. */
static bool carries(const char *opcode) {
   return strstr(opcode, ".cc") || begins(opcode, "addc") || begins(opcode, "subc") || begins(opcode, "madc");
}

bool machine_recordable(const machine_program_t *program) {
   if (program->atomics || program->strong || program->waits || program->clocks || program->unsupported[0] ||
       program->call_argument_count || program->count >= 1u << 24)
      return false;
   for (uint32_t n = 0; n < program->count; n++) {
      const machine_instruction_t *i = &program->code[n];
      if (i->kind == MACHINE_CALL || (i->kind == MACHINE_BARRIER && i->operation > BARRIER_ARRIVE) ||
          (i->kind == MACHINE_CUSTOM && carries(opcode_of(program, i))))
         return false;
   }
   return true;
}

static uint8_t kind_of(const machine_program_t *program, const machine_instruction_t *i) {
   static const struct {
      const char *prefix;
      uint8_t kind;
   } customs[] = {{"ld.", RECORD_LOAD},        {"ldu.", RECORD_LOAD},      {"st.", RECORD_STORE},
                  {"selp.", RECORD_SELECT},    {"slct.", RECORD_SELECT},   {"shfl.", RECORD_SHUFFLE},
                  {"cvt.", RECORD_CONVERT},    {"membar", RECORD_NOTHING}, {"fence", RECORD_NOTHING},
                  {"bar.warp", RECORD_NOTHING}};
   if (i->kind != MACHINE_CUSTOM)
      return i->kind != MACHINE_VALUE ? RECORD_NOTHING : i->extra_count ? RECORD_VALUE_MORE : RECORD_VALUE;
   const char *opcode = opcode_of(program, i);
   for (size_t n = 0; n < sizeof customs / sizeof *customs; n++)
      if (begins(opcode, customs[n].prefix))
         return customs[n].kind;
   const ptx_function_t *function = &program->module->functions[i->function];
   const ptx_operand_t *operands = function->operands + function->statements[i->statement].operand;
   if (!begins(opcode, "mov.") || function->statements[i->statement].operand_count < 2)
      return RECORD_OTHER;
   return operands[0].kind == PTX_OPERAND_LIST   ? RECORD_UNPACK
          : operands[1].kind == PTX_OPERAND_LIST ? RECORD_PACK
                                                 : RECORD_OTHER;
}

/* Sources and destinations of what works on registers alone. */
static void add_source(machine_operands_t *list, uint32_t number) {
   if (number && list->source_count < sizeof list->sources / sizeof *list->sources)
      list->sources[list->source_count++] = (uint16_t)number;
}

static void add_destination(machine_operands_t *list, uint32_t number) {
   if (list->destination_count < sizeof list->destinations / sizeof *list->destinations)
      list->destinations[list->destination_count++] = (uint16_t)number;
}

static machine_operands_t operands_of(const machine_program_t *program, const machine_instruction_t *i,
                                      uint8_t kind) {
   const machine_slot_t *extras = program->extras + i->extra;
   machine_operands_t list = {.source_count = 0};
   if (kind == RECORD_PACK || kind == RECORD_UNPACK) {
      for (uint32_t e = 0; e <= i->elements; e++)
         if ((e == 0) == (kind == RECORD_PACK))
            add_destination(&list, extras[e].number);
         else
            add_source(&list, extras[e].number);
      return list;
   }
   add_source(&list, i->ai);
   add_source(&list, i->bi);
   add_source(&list, i->ci);
   add_destination(&list, i->di);
   for (uint32_t e = 0; e < i->extra_count; e++)
      if (e == 0 && (i->flags & FLAG_SECOND))
         add_destination(&list, extras[e].number);
      else
         add_source(&list, extras[e].number);
   return list;
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
      record->kinds[n] = kind_of(program, &program->code[n]);
      record->operands[n] = operands_of(program, &program->code[n], record->kinds[n]);
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
   for (uint32_t n = 0; n < program->constant_count; n++) /* every run has these */
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
