/* The ways of a branch: the basic blocks through which threads may go before they meet again (branch_ways.c).  On the thread that decodes. */
#ifndef RKB_MACHINE_DECODE_BRANCH_WAYS_H
#define RKB_MACHINE_DECODE_BRANCH_WAYS_H

#include "machine/decode/decoded_program.h"
#include "machine/decode/operation_codes.h"

#define MOST_WAYS 48u             /* basic blocks between a branch and the place where its ways meet */

/* The blocks between a branch and the place where its ways meet, the branch's own block among them if a way leads back there. */
typedef struct ways {
   uint32_t blocks[MOST_WAYS], count;
   uint32_t branch, meet; /* blocks */
} machine_ways_t;

/* The memory of searches through a program.  The caller owns it. */
typedef struct machine_way_search {
   const machine_program_t *program;
   uint32_t *marked; /* by basic block: the last search that came here */
   uint32_t *stack;  /* basic blocks; room for all */
   uint32_t number;  /* of the last search */
   uint64_t steps;   /* basic blocks that were looked at */
} machine_way_search_t;

/* Whether the instruction tests an mbarrier. */
static inline bool machine_is_test(const machine_instruction_t *i) {
   return i->kind == MACHINE_WAIT && i->operation != MBARRIER_CLUSTER_WAIT;
}

/* The k-th block that may follow, without those that only trap, because a thread that traps fails the launch in every order; PTX_NONE from the last on. */
uint32_t machine_way_next(const machine_program_t *program, uint32_t block, uint32_t k);
/* Finds where the ways of the branch at the end of a block meet: of the blocks near it, the one that leaves the fewest blocks between.  False where there
 * is none. */
bool machine_ways_find(machine_way_search_t *s, uint32_t branch, machine_ways_t *ways);
bool machine_is_between(const machine_ways_t *ways, uint32_t block);
/* Whether a way leads from the block to the meeting place without a test. */
bool machine_way_avoids_tests(machine_way_search_t *s, const machine_ways_t *ways, uint32_t block);

#endif
