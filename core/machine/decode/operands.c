/* Says which registers an instruction reads and which it writes.  Recording a run and placing registers need this. */
#include "machine/decode/operands.h"

#include <string.h>

const char *machine_opcode_of(const machine_program_t *program, const machine_instruction_t *i) {
   return program->module->functions[i->function].statements[i->statement].opcode;
}

static bool begins(const char *text, const char *with) {
   return strncmp(text, with, strlen(with)) == 0;
}

uint8_t machine_operands_kind(const machine_program_t *program, const machine_instruction_t *i) {
   static const struct {
      const char *prefix;
      uint8_t kind;
   } customs[] = {{"ld.", RECORD_LOAD},
                  {"ldu.", RECORD_LOAD},
                  {"st.", RECORD_STORE},
                  {"selp.", RECORD_SELECT},
                  {"slct.", RECORD_SELECT},
                  {"shfl.", RECORD_SHUFFLE},
                  {"cvt.", RECORD_CONVERT},
                  {"membar", RECORD_NOTHING},
                  {"fence", RECORD_NOTHING},
                  {"bar.warp", RECORD_NOTHING},
                  {"cp.async.commit", RECORD_NOTHING},
                  {"wgmma.fence", RECORD_NOTHING},
                  {"wgmma.commit", RECORD_NOTHING},
                  {"wgmma.wait", RECORD_NOTHING},
                  {"setmaxnreg", RECORD_NOTHING},
                  {"griddepcontrol", RECORD_NOTHING},
                  {"cp.async.wait", RECORD_NOTHING},
                  {"cp.async.", RECORD_COPY},
                  {"mma.", RECORD_TENSOR},
                  {"wmma.mma", RECORD_TENSOR},
                  {"movmatrix", RECORD_TENSOR},
                  {"wmma.load", RECORD_MATRIX_LOAD},
                  {"ldmatrix", RECORD_MATRIX_LOAD},
                  {"wmma.store", RECORD_MATRIX_STORE},
                  {"stmatrix", RECORD_MATRIX_STORE}};
   if (i->kind != MACHINE_CUSTOM)
      return i->kind != MACHINE_VALUE ? RECORD_NOTHING : i->extra_count ? RECORD_VALUE_MORE : RECORD_VALUE;
   const char *opcode = machine_opcode_of(program, i);
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

static void add_source(machine_operands_t *list, uint32_t number) {
   if (number && list->source_count < sizeof list->sources / sizeof *list->sources)
      list->sources[list->source_count++] = (uint16_t)number;
}

static void add_destination(machine_operands_t *list, uint32_t number) {
   if (list->destination_count < sizeof list->destinations / sizeof *list->destinations)
      list->destinations[list->destination_count++] = (uint16_t)number;
}

machine_operands_t machine_operands(const machine_program_t *program, const machine_instruction_t *i,
                                    uint8_t kind) {
   const machine_slot_t *extras = program->extras ? program->extras + i->extra : NULL;
   machine_operands_t list = {.source_count = 0};
   if (kind == RECORD_PACK || kind == RECORD_UNPACK) {
      for (uint32_t e = 0; e <= i->elements; e++)
         if ((e == 0) == (kind == RECORD_PACK))
            add_destination(&list, extras[e].number);
         else
            add_source(&list, extras[e].number);
      return list;
   }
   if (kind == RECORD_TENSOR || kind == RECORD_MATRIX_LOAD) {
      add_source(&list, kind == RECORD_TENSOR ? 0 : i->ai);
      add_source(&list, kind == RECORD_TENSOR ? 0 : i->bi);
      for (uint32_t e = 0; e < i->extra_count; e++)
         if (e < i->elements)
            add_destination(&list, extras[e].number);
         else
            add_source(&list, extras[e].number);
      return list;
   }
   if (kind == RECORD_MATRIX_STORE) {
      add_source(&list, i->ai);
      add_source(&list, i->bi);
      for (uint32_t e = 0; e < i->extra_count; e++)
         add_source(&list, extras[e].number);
      return list;
   }
   if (kind == RECORD_LOAD) {
      add_source(&list, i->ai);
      for (uint32_t e = 0; e < i->elements; e++)
         add_destination(&list, extras[e].number);
      return list;
   }
   add_source(&list, i->ai);
   add_source(&list, i->bi);
   add_source(&list, i->ci);
   if (kind == RECORD_COPY)
      return list;
   add_destination(&list, i->di);
   for (uint32_t e = 0; e < i->extra_count; e++)
      if (e == 0 && (i->flags & FLAG_SECOND))
         add_destination(&list, extras[e].number);
      else
         add_source(&list, extras[e].number);
   return list;
}
