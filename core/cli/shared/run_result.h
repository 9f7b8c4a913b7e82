/* The ending of a run, for people and for programs. */
#ifndef RKB_CLI_SHARED_RUN_RESULT_H
#define RKB_CLI_SHARED_RUN_RESULT_H

#include "run/run.h"

/* Prints the result to standard output.  objective: the measurement's name; directory: the run's. */
void rkb_print_outcome(const rkb_run_result_t *outcome, const char *objective, const char *directory);
/* Prints the line with which a user can repeat the samples of a drawn secret. */
void rkb_print_secret(const rkb_secret_t *secret);
/* Prints on standard error the user's next steps with the run. */
void rkb_print_next_steps(const rkb_run_result_t *outcome, const char *directory);
int rkb_print_outcome_json(const rkb_run_result_t *outcome, const char *objective, const char *directory);
/* The exit code for the run's ending. */
int rkb_run_result_exit(const rkb_run_result_t *outcome);
/* Whether rkb-run --resume can continue the run. */
bool rkb_run_result_resumable(const rkb_run_result_t *outcome);

#endif
