/* The steps by which a kernel computes its conditions, for those of launches (launch_conditions.c) and of
 * blocks (block_conditions.c). */
#ifndef RKB_MACHINE_DECODE_CONDITIONS_H
#define RKB_MACHINE_DECODE_CONDITIONS_H

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
   PARAMETER,
   MULTIPLY_HIGH,
   ADD_HIGH,
   LEADING_ZEROS,
   REVERSED,
   FIELD,
   BYTES,
   BY_TABLE,
   FUNNEL_LEFT,
   FUNNEL_RIGHT,
   SHUFFLE,
   CONSTANT
};

struct step {
   const ptx_statement_t *statement;
   /* Type: of the result; from: the type that a conversion or a wide product takes. */
   uint32_t number, type, from;
   enum operation operation;
   char comparison[3];
   bool condition, of_block; /* of_block: it also depends on the block's place in the grid */
   /* It also depends on the index of a thread, and has a range over the block's threads. */
   bool of_threads;
};

/* The values that a register has in the threads of a block: numbers between these, in its type. */
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
   bool of_blocks; /* also follows the block's place in the grid, and the indices of its threads */
   uint32_t block[3];
};

static inline bool machine_is_place(uint64_t special) {
   return special >= PTX_SPECIAL_CTAID_X && special <= PTX_SPECIAL_CTAID_Z;
}

static inline bool machine_is_thread(uint64_t special) {
   return special <= PTX_SPECIAL_TID_Z; /* these come first in the list */
}

/* NULL: the kernel has no condition that can be followed, or memory ran out. */
rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry, bool of_blocks);
/* Computes the step's register.  False: it has no value that is known. */
bool machine_condition_step(rkb_machine_conditions_t *conditions, const struct step *step, const rkb_plan_launch_t *launch, struct range *result);

/* Returns the value in this type: cut to its bits, and with the sign extended. */
uint64_t machine_condition_as(uint64_t value, uint32_t type);
/* For single operands.  False: there is no result, as for a division by zero. */
bool machine_condition_apply(const struct step *step, const uint64_t operands[4], uint64_t *result);
/* condition_bits.c: the same for operations on bits and the high halves of products. */
bool machine_condition_apply_bits(const struct step *step, const uint64_t operands[4], uint64_t *result);
/* For operands with ranges: returns a range that is easily found; for a predicate 0 to 1 where threads
 * differ.  False: none is known. */
bool machine_condition_range(const struct step *step, const struct range operands[3], struct range *result);
/* Converts a range to a type; false: the order is not kept. */
bool machine_condition_range_as(struct range *range, uint32_t type);

#endif
