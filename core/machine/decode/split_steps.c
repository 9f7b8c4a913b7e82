/* Reads the statements of a split text as steps of conditions (split_statements.h, conditions.h).  No state. */
#include "machine/decode/conditions.h"

#include <stdlib.h>

bool machine_condition_is_lone(const rkb_machine_conditions_t *c, uint32_t number) {
   return c->split && c->split->origins[number].kind == SPLIT_ALONE;
}

static bool read_split(const rkb_machine_conditions_t *c, uint32_t number, struct step *step) {
   const ptx_operand_t *to = &c->function->operands[step->statement->operand];
   const enum split_kind kind = c->split->origins[number].kind;
   step->operation = kind == SPLIT_LOAD ? LOAD : kind == SPLIT_STORE ? STORE : COPY;
   step->type = machine_condition_type(step->statement->opcode, 0);
   if (kind == SPLIT_COPY)
      step->type = c->function->registers[to->index].type;
   step->from = step->type;
   return step->type != PTX_NO_TYPE && ptx_type_bytes(step->type) <= 8 && ptx_type_bytes(step->type) > 0;
}

/* The type is that of the register, unless the opcode names one that is as wide. */
bool machine_condition_read_at(const rkb_machine_conditions_t *c, uint32_t number, struct step *step) {
   const ptx_statement_t *statement = &c->function->statements[number];
   if (!c->split || c->split->origins[number].kind == SPLIT_NOT)
      return machine_condition_read(statement->opcode, step);
   if (!machine_condition_is_lone(c, number))
      return read_split(c, number, step);
   const uint32_t named = machine_condition_type(statement->opcode, 0),
                  declared = c->function->registers[c->function->operands[statement->operand].index].type;
   step->operation = LONE;
   step->result = c->split->origins[number].result;
   step->type = named != PTX_NO_TYPE && named != PTX_F16X2 && named != PTX_BF16X2 &&
                      ptx_type_bytes(named) == ptx_type_bytes(declared)
                   ? named
                   : declared;
   step->from = step->type;
   step->condition = step->type == PTX_PRED;
   return ptx_type_bytes(step->type) <= 8;
}

machine_lone_t *machine_condition_lone(const rkb_machine_conditions_t *c, struct step *steps,
                                       uint32_t count) {
   const ptx_statement_t **statements = NULL;
   uint32_t lone_count = 0;
   for (uint32_t n = 0; n < count; n++)
      lone_count += steps[n].operation == LONE;
   if (lone_count)
      statements = calloc(lone_count, sizeof *statements);
   if (!statements)
      return NULL;
   lone_count = 0;
   for (uint32_t n = 0; n < count; n++) {
      if (steps[n].operation != LONE)
         continue;
      const ptx_statement_t *origin = c->split->origins[steps[n].number].statement;
      if (lone_count == 0 || statements[lone_count - 1] != origin)
         statements[lone_count++] = origin;
      steps[n].lone_number = lone_count - 1;
   }
   machine_lone_t *lone = c->make_lone(c->module, c->function, statements, lone_count);
   for (uint32_t n = 0; n < count; n++)
      if (steps[n].operation == LONE)
         steps[n].lone = lone;
   free(statements);
   return lone;
}
