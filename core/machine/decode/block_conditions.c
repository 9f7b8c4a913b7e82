/* The conditions in a kernel that depend on the block's place in the grid.  All threads of a block decide
 * blockIdx.x % 16384 == 77 alike; blockIdx.x * 256 + threadIdx.x == 1000001 holds in all threads of a block,
 * in none, or in some.  The conditions are followed from the place, the threads' indices, the launch's
 * parameters and its sizes.  Code that only a few blocks execute is behind such a condition. */
#include "machine/decode/conditions.h"

#include <stdlib.h>

#define COST_OF_LONE 32u /* a handler computes all lanes of a warp */
#define FARTHEST (INT64_C(1) << 58) /* sums stop at numbers of this size */

/* Marks the steps that depend on the place of a block or on the index of a thread. */
static void mark(rkb_machine_conditions_t *c, bool *of_block, bool *of_threads) {
   for (uint32_t n = 0; n < c->count; n++) {
      struct step *step = &c->steps[n];
      const ptx_operand_t *operands = &c->function->operands[step->statement->operand];
      for (uint32_t k = 1; k < step->statement->operand_count; k++) {
         const uint64_t special = operands[k].value;
         if (operands[k].kind == PTX_OPERAND_REGISTER) {
            step->of_block |= of_block[operands[k].index];
            step->of_threads |= of_threads[operands[k].index];
         } else if (operands[k].kind == PTX_OPERAND_SPECIAL) {
            step->of_block |= machine_is_place(special);
            step->of_threads |= machine_is_thread(special);
         }
      }
      of_block[operands[0].index] = step->of_block;
      of_threads[operands[0].index] = step->of_threads;
   }
}

/* Each register has one writer, which comes before its readers. */
bool machine_block_conditions_keep(rkb_machine_conditions_t *c) {
   const size_t registers = c->function->register_count + 1;
   bool *of_block = calloc(registers, 3 * sizeof *of_block);
   uint32_t kept = c->count;
   if (!of_block)
      return false;
   bool *needed = of_block + registers;
   mark(c, of_block, of_block + 2 * registers);
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

static bool is_asked(const struct step *step, bool of_threads) {
   return step->of_block && (of_threads || !step->of_threads);
}

uint32_t rkb_machine_block_conditions_launch(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                             bool of_threads) {
   uint32_t count = 0;
   bool any = false;
   struct range result;
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!step->of_block)
         (void)machine_condition_step(c, step, launch, &result);
      if (is_asked(step, of_threads))
         count += step->operation == LONE ? COST_OF_LONE : 1;
      any |= is_asked(step, of_threads) && step->condition && step->of_threads == of_threads;
   }
   return any ? count : 0;
}

uint64_t rkb_machine_block_outcomes(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                    const uint32_t block[3], bool of_threads) {
   uint64_t outcomes = 0;
   struct range result;
   for (uint32_t d = 0; d < 3; d++)
      c->block[d] = block[d];
   for (uint32_t n = 0; n < c->count; n++) {
      const struct step *step = &c->steps[n];
      if (!is_asked(step, of_threads))
         continue;
      const bool known = machine_condition_step(c, step, launch, &result);
      if (step->condition && step->of_threads == of_threads)
         outcomes = (outcomes ^ (uint64_t)(known ? 1 + (result.low & 1) + 2 * (result.high & 1) : 0)) *
                       0x9e3779b97f4a7c15u +
                    1;
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

/* Finds where the comparison's sides are equal: both are computed for the first block and for the next one
 * along each axis, and are assumed to grow by the same amount from block to block. */
static bool meets_at(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                     const struct step *comparison, uint32_t block[3]) {
   int64_t gap[4] = {0};
   for (uint32_t axis = 0; axis < 4; axis++) {
      struct range result;
      const ptx_operand_t *sides = &c->function->operands[comparison->statement->operand + 1];
      if (axis < 3 && launch->grid[axis] < 2)
         continue;
      for (uint32_t d = 0; d < 3; d++)
         c->block[d] = d == axis;
      for (const struct step *step = c->steps; step < comparison; step++)
         if (step->of_block)
            (void)machine_condition_step(c, step, launch, &result);
      for (uint32_t k = 0; k < 2; k++) {
         if (sides[k].kind != PTX_OPERAND_INTEGER &&
             (sides[k].kind != PTX_OPERAND_REGISTER || !c->known[sides[k].index]))
            return false;
         const uint64_t value =
            sides[k].kind == PTX_OPERAND_INTEGER ? sides[k].value : (uint64_t)c->values[sides[k].index].low;
         const int64_t side = (int64_t)machine_condition_as(
            value, ptx_type_bytes(comparison->from) == 4 ? PTX_S32 : comparison->from);
         if (side > FARTHEST || side < -FARTHEST)
            return false;
         gap[axis] += k ? -side : side;
      }
   }
   int64_t left = -gap[3];
   for (uint32_t axis = 3; axis-- > 0;) {
      const int64_t step = gap[axis] - gap[3];
      const int64_t at = launch->grid[axis] < 2 || step == 0 ? 0 : left / step;
      block[axis] = at < 0 ? 0 : at < launch->grid[axis] ? (uint32_t)at : launch->grid[axis] - 1;
      left -= launch->grid[axis] < 2 ? 0 : step * block[axis];
   }
   return true;
}

bool rkb_machine_block_conditions_meet(rkb_machine_conditions_t *c, const rkb_plan_launch_t *launch,
                                       uint32_t n, uint32_t block[3]) {
   for (uint32_t s = 0; s < c->count; s++)
      if (c->steps[s].operation == COMPARE && c->steps[s].of_block && n-- == 0) {
         if (!meets_at(c, launch, &c->steps[s], block))
            block[0] = block[1] = block[2] = 0;
         return true;
      }
   return false;
}
