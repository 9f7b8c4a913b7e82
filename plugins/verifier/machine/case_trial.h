/* One case being executed: what case_trial.c (its runs and their judgement) and case_families.c (which inputs it is run on) share.  On one
 * worker thread. */
#ifndef MACHINE_TRIAL_H
#define MACHINE_TRIAL_H

#include "verifier.h"

struct trial {
   const struct verifier *verifier;
   struct candidate *candidate;
   const rkb_case_t *the_case;
   struct outcome *outcome;
   struct schedule *schedule;
   uint32_t turn;
   rkb_plan_t *plan;
   rkb_machine_t *machine;
   rkb_machine_buffer_t *buffers;
   const rkb_family_t *family;
   uint64_t seed;
   rkb_inputs_t *inputs;
   rkb_machine_options_t options; /* of machine */
   bool doubles;                  /* an output is float32: what its doubles hold is compared too */
   bool oblivious, over_budget;
   bool one_schedule; /* another order of the threads may do other things */
   uint64_t order;    /* of the runs that are made: rkb_machine_set_order */
   uint32_t orders;   /* had, a bit each: ORDER_* */
   bool keeps_state; /* a run may leave something that a later one goes by */
   uint64_t budget;  /* work left for this case */
   uint64_t largest; /* of one run */
};

#define MOST_TOGETHER 16 /* runs that are executed as one */

/* case_trial.c */
/* One run of the case on t->family and t->seed, judged.  first: with every check.  others: buffers filled for other runs, fewer
 * than MOST_TOGETHER; *followed: they hold what these runs leave, and are to be judged. */
int trial_run(struct trial *t, bool first, const rkb_machine_buffer_t *const *others, uint32_t other_count,
              bool *followed, rkb_error_t *err);
/* What every run of the case keeps beside its values, bits of enum rkb_machine_checks: runs of one machine keep the same, so that what memory holds stays whole.  Doubles are
 * compared for float32 outputs alone, so that a plan without any is executed without. */
uint32_t trial_values(const struct trial *t);
/* What the plan's buffers hold before a run on t->inputs. */
int trial_fill(const struct trial *t, rkb_machine_buffer_t *buffers, rkb_error_t *err);
/* Buffers of the plan's sizes, poisoned; NULL without memory. */
rkb_machine_buffer_t *trial_buffers(const struct trial *t);
void trial_free_buffers(const struct trial *t, rkb_machine_buffer_t *buffers);
uint64_t trial_bytes(const struct trial *t); /* of them */
/* Counts a run of so many thread-instructions, and its work against the budget. */
void trial_count(struct trial *t, uint64_t thread_instructions, uint64_t work);
/* Judges the outputs that a run on t->inputs left in buffers, and finds the store behind a wrong one. */
int trial_judge(struct trial *t, const rkb_machine_buffer_t *buffers, rkb_error_t *err);
void trial_leave_out(struct trial *t, const char *why);

/* Adds the findings of a complete run about outputs that it left undefined. */
void trial_find_undefined(rkb_machine_t *machine, const rkb_plan_t *plan);
/* Takes the findings of the last run of t->machine. */
void trial_take_findings(struct trial *t);
void trial_take(struct trial *t, const rkb_machine_finding_t *findings, uint32_t count);
/* race_second_access.c: takes what the last run of the case found; a race gets the line of the other thread's access from a second execution of the same run.
 * If that one does not come to the race, the finding stays without the line. */
int trial_take_with_second_accesses(struct trial *t, rkb_error_t *err);

/* execution_orders.c: a run in t->order came to its end. */
void order_had(struct trial *t);
/* Called after a run in another than the ascending order found a fault.  Executes the same inputs in ascending order on another
 * machine, to find out whether the order is the cause. */
int order_explain(struct trial *t, rkb_error_t *err);

/* repetitions.c: after the first run: the same inputs again, and inputs that differ in some elements from those of the run before. */
int repetitions_run(struct trial *t, rkb_error_t *err);

/* case_families.c: the first runs of the case with the cheap families, and the families that were left. */
int families_run(struct trial *t, rkb_error_t *err);
int families_run_owed(struct trial *t, const struct owed *owed, rkb_error_t *err);

#endif
