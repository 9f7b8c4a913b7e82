/* Products of warpgroups that are in flight (wgmma.mma_async; PTX ISA 9.0, 9.7.15.5).  Between the instruction that starts a product and
 * the wait_group by which its warp retires it, its accumulators and the registers of a belong to the product.  An access to them in that time
 * races with the product, in whatever order the machine executes the two: on a device the product may end as soon as it starts or as late as the
 * wait.  The product's operands in shared memory are followed like those of every operation of the async proxy (operations.h).
 *
 * The four warps of a warpgroup execute the same of these instructions on the same operands; each warp computes its 16 rows when it reaches
 * the instruction.  Owned by the block; on the machine's thread. */
#ifndef RKB_MACHINE_ASYNC_WARPGROUPS_H
#define RKB_MACHINE_ASYNC_WARPGROUPS_H

#include "machine/state/execution.h"

typedef struct machine_warpgroups machine_warpgroups_t;

#define MOST_PIECES 512u

/* A matrix in shared memory.  Not across: piece p of line l (a row of a, a column of b) is number p * lines + l, of 2 pieces each.
 * Across: piece p (8 rows or columns) of element k is number p * 16 + k. */
typedef struct operand_pieces {
   uint64_t bits; /* of the descriptor */
   machine_matrix_descriptor_t descriptor;
   bool across;
   uint32_t lines; /* rows or columns */
   uint32_t count; /* 0: none */
   uint64_t defined; /* all held values when run->undefinings was this number minus 1; 0: not known */
   /* In a run of which some elements are asked for.  known_lines: a bit for each line that held values when run->undefinings was lines_known minus
    * 1. */
   uint64_t lines_known;
   uint32_t known_lines[WARPGROUP_MOST_COLUMNS / 32];
   uint32_t address[MOST_PIECES] __attribute__((aligned(32)));
} operand_pieces_t;

/* Returns where the pieces of such a matrix are kept.  They are kept until the launch ends, once they were found to lie in shared memory, because
 * a loop uses the same few descriptors again.  The place may hold the pieces of another matrix, or none. */
operand_pieces_t *machine_warpgroup_matrix(machine_block_t *block, bool of_b, uint64_t descriptor,
                                           bool across, uint32_t lines);

/* For blocks of so many warps of a program; NULL when memory ran out. */
machine_warpgroups_t *machine_warpgroups_new(machine_run_t *run, const machine_program_t *program,
                                             uint32_t warps);
void machine_warpgroups_free(machine_run_t *run, machine_warpgroups_t *groups);
void machine_warpgroups_begin(machine_block_t *block); /* a block starts: nothing is on its way */
/* The block's warps have ended: findings for products that are still in flight, for warps that executed less than others of their
 * warpgroup, and for registers that setmaxnreg asked for and the block does not have. */
void machine_warpgroups_end(machine_block_t *block);

/* The leading offset of a matrix descriptor that the warp is about to use, where the layout has one.  False after a finding: the blocks of the
 * cluster have different ones, by their ranks. */
bool machine_warpgroup_leading(machine_warp_t *warp, bool of_b, uint32_t bytes);
/* The warp comes to an instruction of its warpgroup, with these operands (descriptors; anything else that all warps must agree on).
 * False after a finding: the others did something else there, or there are no four warps. */
bool machine_warpgroup_arrive(machine_warp_t *warp, uint64_t a, uint64_t b, bool adds);
/* The product that the warp executes: its registers belong to it from now on.  False after a finding: the registers were written since the last
 * wgmma.fence, or there was no wgmma.fence. */
bool machine_warpgroup_start(machine_warp_t *warp, const machine_instruction_t *i);
void machine_warpgroup_fence(machine_warp_t *warp);
void machine_warpgroup_commit(machine_warp_t *warp);
/* Whether the warp is about to see the end of a group that others of its warpgroup have not come to: on a device no group ends before, so that the
 * warp waits.  False also when nothing else in the block can go on. */
bool machine_warpgroup_is_ahead(machine_warp_t *warp, uint32_t pending);
/* All but the newest pending groups are done. */
void machine_warpgroup_wait(machine_warp_t *warp, uint32_t pending);
/* Adds the product as an operation that reads shared memory (operations.h), to the group that is open.  The wait of any warp of the warpgroup
 * observes its end, because kernels let one warp announce for all four that a buffer is free. */
uint32_t machine_warpgroup_operation(machine_warp_t *warp);
/* An instruction with FLAG_TOUCHES is about to be executed. */
void machine_warpgroup_touch(machine_warp_t *warp, const machine_instruction_t *i);
/* setmaxnreg: all warps of the warpgroup get more or fewer registers than before. */
void machine_warpgroup_registers(machine_warp_t *warp, uint32_t count, bool more);

#endif
