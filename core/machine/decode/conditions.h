/* The steps by which a kernel computes its conditions, for those of launches (launch_conditions.c) and of
 * blocks (block_conditions.c). */
#ifndef RKB_MACHINE_DECODE_CONDITIONS_H
#define RKB_MACHINE_DECODE_CONDITIONS_H

#include "machine/machine.h"
#include "machine/decode/split_statements.h"

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
   CONSTANT,
   CONVERT, /* to or from a floating-point number */
   ROOT,
   INVERSE,
   INVERSE_ROOT,
   POWER_OF_TWO,
   LOGARITHM,
   SINE,
   COSINE,
   TANGENT,
   LONE, /* executed alone by the machine's handler: split_statements.h */
   LOAD, /* from a cell of memory, and to one */
   STORE
};

enum comparison_order { EQUAL, DIFFERENT, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL };

enum rounding { NEAREST, WHOLE, DOWN, UP, TO_ZERO }; /* all but the first: to a whole number */

struct step {
   const ptx_statement_t *statement;
   /* Type: of the result; from: the type that a conversion or a wide product takes. */
   uint32_t number, type, from;
   enum operation operation;
   enum rounding rounding; /* of a conversion */
   enum operation joined;  /* of a comparison: with another predicate, by AND, OR or XOR; COPY: with none */
   char comparison[4];
   enum comparison_order order; /* what it says of integers */
   bool saturates;              /* the result is between 0 and 1 */
   bool condition, of_block;    /* of_block: it also depends on the block's place in the grid */
   /* It also depends on the index of a thread, and has a range over the block's threads. */
   bool of_threads;
   bool tells; /* counts as a comparison of its result with 0, as in 1u >> min(D / 512 ^ 5, 31) */
   bool counts;   /* in a list of one thread: its outcome, or whether its result is what it was at first */
   bool by_place; /* and it depends on that thread's place */
   bool needed;   /* something that is asked for is computed from it (condition_results.c) */
   bool needed_there; /* something that counts and depends on the place is computed from it */
   bool held;     /* its number is the same as at the launch before (rkb_machine_conditions_hold) */
   bool has_first;
   uint64_t first; /* its result at the first launch that was looked at */
   machine_lone_t *
      lone; /* of a statement that is executed alone: the list that has it, its number there, and which result this is */
   uint32_t lone_number, result;
   bool
      joins; /* a comparison of a number that was put together of others, whose bits tell more than its value */
   bool bends; /* a number that it computes or compares may be no polynomial of the sizes */
};

/* Whose conditions a list has. */
enum followed { OF_LAUNCHES, OF_BLOCKS, OF_ONE_THREAD };

/* The values that a register has in the threads of a block: numbers between these, in its type. */
struct range {
   int64_t low, high;
};

struct rkb_machine_conditions {
   const ptx_module_t *module;
   const ptx_function_t *function;
   ptx_function_t *inlined; /* what function is, where the kernel calls others; else NULL */
   struct split_text *split; /* what function is, where statements were split; else NULL */
   machine_lone_make_t *make_lone;
   machine_lone_t *lone; /* of its steps */
   struct step *steps;
   uint32_t count;
   struct range *values; /* by register */
   bool *known;
   struct condition_paths *paths; /* condition_paths.c; NULL: not asked for, or there are none */
   uint64_t *turns;               /* of its ways that may still be followed, over all launches */
   enum followed
      followed; /* all but OF_LAUNCHES also follow the block's place in the grid, and the indices of its threads */
   struct condition_cells *
      cells; /* OF_ONE_THREAD: what it stored, in so far as it is known; NULL: nothing is followed through memory */
   uint32_t block[3];
   uint32_t thread[3];          /* OF_ONE_THREAD */
   uint64_t place, other_place; /* of that thread, and of one with which it is compared */
   bool *read_later;            /* OF_ONE_THREAD, by register: room to find the needed steps */
   bool has_needed_alone;       /* rkb_machine_conditions_keep dropped the other steps */
   bool is_marked; /* the steps' needed and needed_there say what all that count are computed from */
   struct plain_step *plain;    /* of the steps that were kept; NULL: not made (fast_condition_steps.h) */
   uint32_t *
      taken; /* OF_ONE_THREAD: numbers of the steps that are computed or told while others are held; NULL: all are */
   uint32_t taken_count;
};

static inline bool machine_is_place(uint64_t special) {
   return special >= PTX_SPECIAL_CTAID_X && special <= PTX_SPECIAL_CTAID_Z;
}

static inline bool machine_is_size(uint64_t special) {
   return (special >= PTX_SPECIAL_NTID_X && special <= PTX_SPECIAL_NTID_Z) ||
          (special >= PTX_SPECIAL_NCTAID_X && special <= PTX_SPECIAL_NCTAID_Z) ||
          special == PTX_SPECIAL_DYNAMIC_SHARED;
}

static inline bool machine_is_thread(uint64_t special) {
   return special <= PTX_SPECIAL_TID_Z; /* these come first in the list */
}

/* NULL: the kernel has no condition that can be followed, or memory ran out. */
rkb_machine_conditions_t *machine_conditions_read(const rkb_machine_module_t *module, const char *entry,
                                                  enum followed followed, machine_lone_make_t *make_lone);
/* block_conditions.c.  Drops the steps that no condition with the block's place needs; false: there is no such condition, or memory ran out. */
bool machine_block_conditions_keep(rkb_machine_conditions_t *conditions);
/* condition_steps.c.  Whether the opcode's n-th word is this one. */
bool machine_condition_word(const char *opcode, uint32_t n, const char *word);
/* The type that the opcode names last, or so many words before that; PTX_NO_TYPE. */
uint32_t machine_condition_type(const char *opcode, uint32_t from_end);
/* Reads what the opcode does into the step; false: it is not followed. */
bool machine_condition_read(const char *opcode, struct step *step);
/* split_steps.c.  The same for a statement of the list's text, which may be executed alone. */
bool machine_condition_read_at(const rkb_machine_conditions_t *conditions, uint32_t number,
                               struct step *step);
/* Whether the statement is executed alone. */
bool machine_condition_is_lone(const rkb_machine_conditions_t *conditions, uint32_t number);
/* Decodes the statements of these steps that are executed alone.  The caller frees the list, after the steps' last use; NULL: there are none, or
 * memory ran out, and then their results are not known. */
machine_lone_t *machine_condition_lone(const rkb_machine_conditions_t *conditions, struct step *steps,
                                       uint32_t count);
/* Whether a statement that gives one register a value has operands of kinds that a launch may decide, whatever their values are. */
bool machine_condition_operands(const rkb_machine_conditions_t *conditions, const ptx_statement_t *statement,
                                bool lone);
/* Returns how far the sides of a comparison are from equal; NAN where no two numbers are compared.  Call it before the comparison's step is taken. */
double machine_condition_distance(const rkb_machine_conditions_t *conditions, const struct step *step,
                                  const rkb_plan_launch_t *launch);
/* Whether the first operand is the result of a least or largest number.  A kernel decides this by `min(C, 65)`, without a comparison in its text. */
bool machine_condition_is_first(const rkb_machine_conditions_t *conditions, const struct step *step,
                                const rkb_plan_launch_t *launch);
/* Whether the step reads an argument or a size whose value differs in the other launch. */
bool machine_condition_differs(const rkb_machine_conditions_t *conditions, const struct step *step,
                               const rkb_plan_launch_t *launch, const rkb_plan_launch_t *other);
/* Computes the step's register.  False: the value is not known. */
bool machine_condition_step(rkb_machine_conditions_t *conditions, const struct step *step, const rkb_plan_launch_t *launch, struct range *result);

/* Returns the value in this type: cut to its bits, and with the sign extended. */
static inline uint64_t machine_condition_as(uint64_t value, uint32_t type) {
   const uint32_t bits = 8 * ptx_type_bytes(type);
   if (type == PTX_PRED)
      return value & 1;
   if (bits >= 64)
      return value;
   value &= (UINT64_C(1) << bits) - 1;
   return ptx_type_is_signed(type) && value >> (bits - 1) ? value | ~UINT64_C(0) << bits : value;
}
/* Computes the result of operands with single values.  False: there is no result, as for a division by zero. */
bool machine_condition_apply(const struct step *step, const uint64_t operands[4], uint64_t *result);
/* condition_bits.c: the same for operations on bits and the high halves of products. */
bool machine_condition_apply_bits(const struct step *step, const uint64_t operands[4], uint64_t *result);
/* condition_cells.c: what one thread stored in shared and local memory.  Begins with no cell. */
struct condition_cells *machine_cells_new(void);
void machine_cells_clear(struct condition_cells *cells);
/* known false: the cell has no known value from now on. */
void machine_cells_store(struct condition_cells *cells, uint64_t address, uint32_t bytes, uint64_t value,
                         bool known);
/* Returns what the thread stored there.  Where it stored nothing, another thread may have: then it is what this one stored last in the variable. */
bool machine_cells_load(const struct condition_cells *cells, uint64_t address, uint32_t bytes,
                        uint64_t *value);
/* condition_floats.c: the same for floating-point numbers. */
bool machine_condition_apply_floats(const struct step *step, const uint64_t operands[4], uint64_t *result);
/* The meaning of the bits of a type. */
double machine_condition_number(uint64_t bits, uint32_t type);
static inline bool machine_condition_is_float(const struct step *step) {
   return ptx_type_is_float(step->type) || ptx_type_is_float(step->from);
}
/* condition_results.c: marks the steps of one thread that count; false: memory ran out. */
bool machine_results_mark(rkb_machine_conditions_t *conditions);
/* What the steps that count are at a launch.  wanted: by their numbers; NULL: all. */
void machine_results_follow(rkb_machine_conditions_t *conditions, const rkb_plan_launch_t *launch,
                            const uint8_t *wanted,
                            void (*visit)(void *argument, uint32_t number, bool outcome, double distance),
                            void *argument);
/* For operands with ranges: finds a range that holds every result, not always the narrowest; for a predicate 0 to 1 where threads differ.  False:
 * no range is known. */
bool machine_condition_range(const struct step *step, const struct range operands[3], struct range *result);
/* Converts a range to a type; false: the order is not kept. */
bool machine_condition_range_as(struct range *range, uint32_t type);

#endif
