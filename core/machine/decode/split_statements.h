/* A function's text in which each statement that is followed has one result and a plain list of operands.
 *
 * A condition may depend on a result that no table of operations has (sad, dp4a, a ballot of a value that all threads have), on a statement with
 * several results (mov.b64 {a, b}), or on the carry of a sum.  Such a statement is written once for each of its results, and it is executed alone by
 * the machine's own handler, so no instruction needs a second meaning here. */
#ifndef RKB_MACHINE_DECODE_SPLIT_STATEMENTS_H
#define RKB_MACHINE_DECODE_SPLIT_STATEMENTS_H

#include "machine/ptx/module.h"

#define MOST_SPLIT_SOURCES 24u
#define MOST_SPLIT_RESULTS 8u

enum split_kind {
   SPLIT_NOT,   /* the statement stands as in the kernel */
   SPLIT_ALONE, /* it is executed alone */
   /* A load is a register, an address and a number to be added to it.  A store is the same with the value last; its register is of no use.  A
    * variable of shared or local memory is a number: machine_split_address. */
   SPLIT_LOAD,
   SPLIT_STORE,
   SPLIT_COPY
};

struct split_origin {
   enum split_kind kind;
   const ptx_statement_t *statement;
   uint32_t result; /* which of its results this is */
};

/* Where a variable begins.  Addresses of different variables differ above these bits. */
#define SPLIT_VARIABLE_BITS 20u
static inline uint64_t machine_split_address(uint32_t variable) {
   return ((uint64_t)variable + 1) << SPLIT_VARIABLE_BITS;
}

struct split_text {
   ptx_function_t function;
   struct split_origin *origins; /* by statement */
};

/* with_memory: also splits accesses of shared and local memory.  NULL: no statement needs to be split, or memory ran out.  The text points into the
 * function, which must outlive it. */
struct split_text *machine_split_statements(const ptx_function_t *function, bool with_memory);
void machine_split_free(struct split_text *text);
/* Whether the statement adds to a carry that an earlier one left, and whether it leaves one. */
bool machine_takes_carry(const ptx_statement_t *statement);
bool machine_leaves_carry(const ptx_statement_t *statement);
/* Lists the operands that a statement gives values, and those that it reads; false: there are too many. */
bool machine_split_results(const ptx_function_t *function, const ptx_statement_t *statement,
                           const ptx_operand_t *results[MOST_SPLIT_RESULTS], uint32_t *count);
bool machine_split_sources(const ptx_function_t *function, const ptx_statement_t *statement,
                           const ptx_operand_t *sources[MOST_SPLIT_SOURCES], uint32_t *count);

/* A list of statements that are executed alone, by the threads of one warp that all have the same values.  Who makes a list says how
 * (execute/lone_statements.c).  One thread. */
typedef struct machine_lone {
   /* sources: values in the order of machine_split_sources, and last the carry, where one is taken.  lanes: threads of the block's first warp.
    * result: as in a split_origin; one after the last: the carry.  False: the machine does not execute it, or threads get different values. */
   bool (*apply)(struct machine_lone *lone, uint32_t number, const uint64_t *sources, uint32_t lanes,
                 uint32_t result, uint64_t *value);
   void (*free)(struct machine_lone *lone);
} machine_lone_t;

/* NULL: memory ran out.  The statements are of this function, or of the one from which it was split. */
typedef machine_lone_t *machine_lone_make_t(const ptx_module_t *module, const ptx_function_t *function,
                                            const ptx_statement_t *const *statements, uint32_t count);

static inline void machine_lone_free(machine_lone_t *lone) {
   if (lone)
      lone->free(lone);
}

#endif
