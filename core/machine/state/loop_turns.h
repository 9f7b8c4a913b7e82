/* How many turns the loops took in which threads synchronise or copies are under way.  A ring of buffers in shared memory is filled anew only when its
 * loop has more turns than the ring has buffers, so a race between a buffer's readers and what fills it next shows only in loops with more turns than buffers.  A machine
 * counts turns if its options ask for it, in runs that look for races.  The machine's thread. */
#ifndef RKB_MACHINE_STATE_LOOP_TURNS_H
#define RKB_MACHINE_STATE_LOOP_TURNS_H

#include "machine/machine.h"

struct machine_launch;
struct machine_run;
struct machine_warp;

/* A loop that holds no other one of these.  Loops of a kernel have the same numbers in every machine on its module. */
typedef struct rkb_machine_loop {
   uint32_t block; /* basic block where it begins */
   uint32_t turns; /* of a warp, at most, each time that it came to the loop from outside; 0: none came */
   bool
      ahead; /* copies or products go on beside its threads, or some threads go ahead of others: it may fill a ring of several buffers */
} rkb_machine_loop_t;

/* The loops of a launch in the machine's runs; *count 0: there are none, or they were not counted.  Valid until the machine is closed. */
const rkb_machine_loop_t *rkb_machine_loops(const rkb_machine_t *machine, uint32_t launch, uint32_t *count);

/* turn_counts.c, for the machine's own use */
struct machine_loops;
/* Called at the beginning of a launch; stops the run when memory runs out. */
void machine_loops_begin(struct machine_launch *launch);
void machine_loops_free(struct machine_run *run);
/* Called when a warp comes to a basic block from another one. */
void machine_loops_enter(const struct machine_warp *warp, uint32_t block, uint32_t from);

#endif
