/* What the three files of joint runs share, from the bottom up: joint_sets.c holds the sets of buffers, joint_launch.c executes a
 * launch on all of them, joint_runs.c a plan.  On the machine's thread, which owns everything here. */
#ifndef RKB_MACHINE_EXECUTE_JOINT_SETS_H
#define RKB_MACHINE_EXECUTE_JOINT_SETS_H

#include "machine/execute/recording.h"

struct machine_together {
   uint32_t count;
   bool active;    /* for the run that this was made for */
   bool following; /* the other sets hold what they should so far */
   bool careful;   /* no run told yet which launches inputs steer */
   bool begun;
   uint8_t **data;            /* by set, by buffer: the caller's */
   double **shadow;           /* the same; those of the first set are the regions' own */
   uint64_t *executed;        /* by set: thread-instructions */
   uint8_t **before, **after; /* by buffer: definedness around a launch */
   uint8_t **kept_data;       /* by set, by buffer: before a launch that may turn out to be steered */
   double **kept_shadow;
   uint8_t **variables; /* by region after the buffers: what they held at the start */
   machine_record_t *record;
};

/* Makes run->together for these buffers; false when memory ran out, with what was made left for machine_together_free. */
bool machine_sets_make(machine_run_t *run, const rkb_machine_buffer_t *const *sets, uint32_t count);
void machine_sets_begin(machine_run_t *run);             /* before the first launch */
void machine_sets_use(machine_run_t *run, uint32_t set); /* its data and shadows become the regions' */
/* Definedness of every buffer, before or after a launch: one copy holds for all sets. */
void machine_sets_copy_definedness(machine_run_t *run, uint8_t **to);
void machine_sets_restore_definedness(machine_run_t *run, uint8_t **from);
bool machine_sets_same_definedness(const machine_run_t *run, uint8_t **as);
/* A variable that a kernel changes passes something on, from launch to launch and from run to run. */
bool machine_sets_same_variables(const machine_run_t *run);
void machine_sets_restore_variables(machine_run_t *run);
/* Keeps the other sets' buffers as they are before a launch, or brings them back. */
void machine_sets_keep(machine_run_t *run, bool restore);
/* joint_launch.c: whether the other sets may repeat what a launch does instead of executing it. */
bool machine_may_follow(const machine_run_t *run, uint32_t launch);

#endif
