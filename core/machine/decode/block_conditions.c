/* The conditions in a kernel that all threads of a block decide alike, by the block's place in the grid, the launch's parameters and its sizes: blockIdx.x % 16384 ==
 * 77.  What blocks do that hardly any other does is behind one of them.  A list belongs to one thread. */
#include "machine/decode/conditions.h"

#include <stdlib.h>

/* Marks what the block's place decides, and drops what decides no condition of that kind.  Registers have one writer each, which comes before its readers. */
static bool keep_what_decides(rkb_machine_conditions_t *c) {
   bool *of_block = calloc(c->function->register_count + 1, 2 * sizeof *of_block),
        *needed = of_block + c->function->register_count + 1;
   uint32_t kept = c->count;
   if (!of_block)
      return false;
   for (uint32_t n = 0; n < c->count; n++) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      for (uint32_t k = 1; k < step->statement->operand_count; k++)
         step->of_block |=
            operands[k].kind == PTX_OPERAND_REGISTER ? of_block[operands[k].index]
            : operands[k].kind == PTX_OPERAND_SPECIAL
               ? operands[k].value >= PTX_SPECIAL_CTAID_X && operands[k].value <= PTX_SPECIAL_CTAID_Z
               : false;
      of_block[operands[0].index] = step->of_block;
   }
   for (uint32_t n = c->count; n-- > 0;) {
      const struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      if (!needed[operands[0].index] && !(step->condition && step->of_block))
         continue;
      for (uint32_t k = 1; k < step->statement->operand_count; k++)
         if (operands[k].kind == PTX_OPERAND_REGISTER)
            needed[operands[k].index] = true;
      c->steps[--kept] = *step;
   }
   c->count -= kept;
   for (uint32_t n = 0; n < c->count; n++)
      c->steps[n] = c->steps[kept + n];
   free(of_block);
   return c->count > 0;
}

rkb_machine_conditions_t *rkb_machine_block_conditions_new(const rkb_machine_module_t *module,
                                                           const char *entry) {
   rkb_machine_conditions_t *c = machine_conditions_read(module, entry, true);
   if (c && keep_what_decides(c))
      return c;
   rkb_machine_conditions_free(c);
   return NULL;
}

uint32_t rkb_machine_block_conditions_launch(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch) {
   uint32_t count = 0;
   uint64_t result;
   for (uint32_t n = 0; n < c->count; n++) {
      if (!c->steps[n].of_block)
         (void)machine_condition_step(c, &c->steps[n], launch, &result);
      count += c->steps[n].of_block;
   }
   return count;
}

uint64_t rkb_machine_block_outcomes(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                    const uint32_t block[3]) {
   uint64_t outcomes = 0, result;
   for (uint32_t d = 0; d < 3; d++)
      c->block[d] = block[d];
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!step->of_block)
         continue;
      const bool known = machine_condition_step(c, step, launch, &result);
      if (step->condition)
         outcomes = (outcomes ^ (known ? 1 + (result & 1) : 0)) * 0x9e3779b97f4a7c15u + 1;
   }
   return outcomes ^ outcomes >> 32;
}

bool rkb_machine_block_conditions_number(const rkb_machine_conditions_t *c, uint32_t n, uint64_t *number) {
   for (uint32_t s = 0; s < c->count; s++) {
      const ptx_operand_t *operands = &c->function->operands[c->steps[s].statement->operand];
      for (uint32_t k = 1; k < c->steps[s].statement->operand_count && c->steps[s].of_block; k++)
         if (operands[k].kind == PTX_OPERAND_INTEGER && n-- == 0) {
            *number = operands[k].value;
            return true;
         }
   }
   return false;
}
