/* How a run ended, for people and for programs. */
#ifndef RKB_CLI_OUTCOME_H
#define RKB_CLI_OUTCOME_H

#include "run/run.h"

/* Prints the result to standard output.  objective: the measurement's name; directory: the run's. */
void rkb_print_outcome(const rkb_outcome_t *outcome, const char *objective, const char *directory);
/* Prints on standard error what the user can do with the run now. */
void rkb_print_next_steps(const rkb_outcome_t *outcome, const char *directory);
int rkb_print_outcome_json(const rkb_outcome_t *outcome, const char *objective, const char *directory);
/* The exit code for the run's ending. */
int rkb_outcome_exit(const rkb_outcome_t *outcome);
/* Whether rkb-run --resume can continue the run. */
bool rkb_outcome_resumable(const rkb_outcome_t *outcome);

#endif
