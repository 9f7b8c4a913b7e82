/* Definitions that the three files of joint runs share.  From the bottom up: joint_sets.c holds the sets of buffers, joint_launch.c
 * executes a launch on all of them, joint_runs.c executes a plan.  On the machine's thread, which owns everything here. */
#ifndef RKB_MACHINE_EXECUTE_JOINT_SETS_H
#define RKB_MACHINE_EXECUTE_JOINT_SETS_H

#include "machine/state/recording.h"

struct machine_together {
   uint32_t count;
   bool active;    /* during the run for which this was made */
   bool following; /* so far the other sets hold what separate runs on them would have left */
   bool careful;   /* no run has shown yet in which launches inputs reach control or addresses */
   bool begun;
   uint8_t **data;            /* by set, by buffer: the caller's */
   double **shadow;           /* the same; the first set uses the regions' own shadows */
   uint64_t *executed;        /* by set: thread-instructions */
   uint64_t *burden;          /* by set: the rest of its work */
   uint8_t **before, **after; /* by buffer: definedness before and after a launch */
   /* By set, by buffer: copies made before a launch, in case an input reaches its control or addresses. */
   uint8_t **kept_data;
   double **kept_shadow;
   uint8_t **variables; /* by region, variables only: what each held at the start */
   machine_record_t *record;
};

/* Makes run->together for these buffers.  False when memory ran out; machine_together_free then frees what
 * was made. */
bool machine_sets_make(machine_run_t *run, const rkb_machine_buffer_t *const *sets, uint32_t count);
void machine_sets_begin(machine_run_t *run);             /* before the first launch */
/* Makes the regions use the set's data and shadows. */
void machine_sets_use(machine_run_t *run, uint32_t set);
/* Copies, restores or compares the definedness of every buffer.  One copy holds for all sets. */
void machine_sets_copy_definedness(machine_run_t *run, uint8_t **to);
void machine_sets_restore_definedness(machine_run_t *run, uint8_t **from);
bool machine_sets_same_definedness(const machine_run_t *run, uint8_t **as);
/* Whether the variables hold what they held at the start.  A variable that a kernel changes carries a value
 * from launch to launch and from run to run. */
bool machine_sets_same_variables(const machine_run_t *run);
void machine_sets_restore_variables(machine_run_t *run);
/* Copies the other sets' buffers before a launch, or restores them from the copies. */
void machine_sets_keep(machine_run_t *run, bool restore);
/* joint_launch.c: whether the other sets may repeat a record of a launch instead of executing it. */
bool machine_may_follow(const machine_run_t *run, uint32_t launch);

#endif
