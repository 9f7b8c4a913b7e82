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
   bool of_threads;          /* the index of a thread, too: it has a range over the block's threads */
};

/* What a register holds in the threads of a block: numbers between these, as its type has them. */
struct range {
   int64_t low, high;
};

struct rkb_machine_conditions {
   const ptx_module_t *module;
   const ptx_function_t *function;
   struct step *steps;
   uint32_t count;
   struct range *values; /* by register */
   bool *known;
   bool of_blocks; /* follows the place of the block in the grid, and the indices of its threads, too */
   uint32_t block[3];
};

static inline bool machine_is_place(uint64_t special) {
   return special >= PTX_SPECIAL_CTAID_X && special <= PTX_SPECIAL_CTAID_Z;
}

static inline bool machine_is_thread(uint64_t special) {
   return special <= PTX_SPECIAL_TID_Z; /* they are the first ones */
}

/* NULL: the kernel has none that can be followed, or memory is out. */
rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry, bool of_blocks);
/* Gives the step's register its values.  Whether it has some. */
bool machine_condition_step(rkb_machine_conditions_t *conditions, const struct step *step, const rkb_plan_launch_t *launch, struct range *result);

/* As the type has it: cut off, and the sign carried on. */
uint64_t machine_condition_as(uint64_t value, uint32_t type);
/* Of single operands.  false: it has no result, as where it divides by zero. */
bool machine_condition_apply(const struct step *step, const uint64_t operands[3], uint64_t *result);
/* Of operands with ranges: the smallest range that is easily found; a predicate's is 0 to 1 where threads differ.  false: none is known. */
bool machine_condition_range(const struct step *step, const struct range operands[3], struct range *result);
/* The range as the type has it; false: it does not keep its order. */
bool machine_condition_range_as(struct range *range, uint32_t type);

#endif
