/* The steps by which a kernel comes to its conditions.  Shared by those of launches (launch_conditions.c) and of blocks
 * (block_conditions.c). */
#ifndef RKB_MACHINE_CONDITIONS_H
#define RKB_MACHINE_CONDITIONS_H

#include "machine/machine.h"
#include "machine/ptx/module.h"

enum operation {
   COPY,
   ADD,
   SUBTRACT,
   MULTIPLY,
   MULTIPLY_ADD,
   AND,
   OR,
   XOR,
   NOT,
   LEFT,
   RIGHT,
   REMAINDER,
   QUOTIENT,
   LEAST,
   MOST,
   MINUS,
   SIZE,
   ONES,
   COMPARE,
   CHOOSE,
   PARAMETER
};

struct step {
   const ptx_statement_t *statement;
   uint32_t number, type, from; /* type: of the result; from: of what a conversion or a wide product takes */
   enum operation operation;
   char comparison[3];
   bool condition, of_block; /* of_block: the place of a block in the grid decides it too */
};

struct rkb_machine_conditions {
   const ptx_module_t *module;
   const ptx_function_t *function;
   struct step *steps;
   uint32_t count;
   uint64_t *values; /* by register */
   bool *known;
   bool of_blocks; /* follows the place of the block in the grid, too */
   uint32_t block[3];
};

/* NULL: the kernel has none that can be followed, or memory is out. */
rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry, bool of_blocks);
/* Gives the step's register its value.  Whether it has one. */
bool machine_condition_step(rkb_machine_conditions_t *conditions, const struct step *step, const rkb_plan_launch_t *launch, uint64_t *result);

#endif
