/* The counts of a run: its work so far, which is compared with its budget, and the counters of its launches for reports.  One thread; the
 * run owns them. */
#ifndef RKB_MACHINE_STATE_RUN_COUNTS_H
#define RKB_MACHINE_STATE_RUN_COUNTS_H

#include "machine/machine.h"
#include "machine/state/block_state.h"

typedef struct machine_run machine_run_t;

/* The first multiply-adds of matrix instructions in a run count no work beyond their thread-instructions: MACHINE_FREE_PRODUCTS of them, about as
 * many as blocks of fast kernels make.  Of the others, MACHINE_PRODUCTS_OF_WORK count as one thread-instruction (docs/decisions/work.md). */
#define MACHINE_FREE_PRODUCTS (UINT64_C(1) << 28)
#define MACHINE_PRODUCTS_OF_WORK 8u

/* The work of the present run, in thread-instructions where nothing else is said. */
typedef struct machine_work {
   uint64_t budget; /* what is left */
   uint64_t executed;
   uint64_t burden;     /* what work costs beyond its thread-instructions, expressed in them (machine.h) */
   uint64_t products;   /* multiply-adds of matrix instructions */
   uint64_t hang_limit; /* most instructions of one warp */
} machine_work_t;

typedef struct machine_run_counts {
   rkb_launch_counters_t *counters; /* by launch */
   /* By launch: counts of the blocks that options.counted names; NULL: none are named. */
   rkb_launch_counters_t *counted;
   bool counted_enough; /* whether the launch that runs has executed those blocks */
   /* Memory requests of the blocks of a launch that are measured, and the sectors that these touched (request_counts.c). */
   rkb_launch_counters_t measured;
   struct machine_sectors *sectors;
   /* measured_barriers and cluster_arrivals count arrivals of warps. */
   uint64_t measured_blocks, measured_barriers, cluster_arrivals, longest_warp, longest_loads;
   /* How often warps, and threads, executed each basic block of the program that runs. */
   uint64_t *block_warps, *block_threads;
} machine_run_counts_t;

/* request_counts.c */
/* Counts one request of a warp: sectors of 32 bytes, and bank conflicts of shared memory. */
void machine_count_request(machine_warp_t *warp, const uint64_t address[LANES], uint32_t mask, uint32_t bytes,
                           bool store);
/* The same of so many whole sectors of global memory, one after the other, of which a request takes no more than 16. */
void machine_count_whole_sectors(machine_warp_t *warp, uint64_t address, uint32_t count, bool store);
void machine_counters_begin(machine_run_t *run);
void machine_counters_end(machine_run_t *run, rkb_launch_counters_t *counters, uint64_t executed);
void machine_counters_free(machine_run_t *run);
/* tensor_use.c: notes which matrix instructions of the launch that just ran were executed. */
void machine_note_tensor_use(machine_run_t *run, const machine_program_t *program);
/* dependency_chain.c: fills in the dependency chain of the longest warp of the launch that just ran. */
void machine_count_chains(const machine_run_t *run, rkb_launch_counters_t *counters);

#endif
