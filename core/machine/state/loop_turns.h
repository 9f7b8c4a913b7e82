/* How many turns the loops took in which threads synchronise or copies are under way.  If a loop fills a ring of buffers in shared memory, it
 * fills a buffer a second time only when it makes more turns than the ring has buffers.  Only then can a race show between the readers of a buffer
 * and the next write to it.  A machine counts turns if its options ask for it, in runs that look for races.  The machine's thread. */
#ifndef RKB_MACHINE_STATE_LOOP_TURNS_H
#define RKB_MACHINE_STATE_LOOP_TURNS_H

#include "machine/machine.h"

struct machine_launch;
struct machine_run;
struct machine_warp;

/* A loop that contains no other such loop.  Loops of a kernel have the same numbers in every machine on its module. */
typedef struct rkb_machine_loop {
   uint32_t block; /* basic block where it begins */
   /* the most turns that a warp made after it came to the loop from outside; 0: no warp came */
   uint32_t turns;
   bool
      ahead; /* copies or products run beside its threads, or some threads run ahead of others, so that it may fill a ring of several buffers */
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
