/* The kernels of a labelled corpus judged by a pipeline's verifiers: a sweep of rkb-run, an arm for every 64 kernels, in a directory of its own.
 * So ^C and a kill lose nothing, and the same call goes on.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_JUDGE_RUNS_H
#define RKB_CLI_JUDGE_JUDGE_RUNS_H

#include "cli/arguments.h"
#include "cli/judge/judge_tally.h"

typedef struct rkb_judge_runs {
   const rkb_arguments_t *arguments; /* its --cells, --jobs, --secret and --quiet go to rkb-run */
   const char *pipeline;             /* as the user names it; NULL: the shipped judge.yaml */
   const rkb_labelled_corpus_t *corpus;
   const char *directory;
   const char *option,
      *value; /* an option of the pipeline, as --set names it, and what it gets; NULL: none */
   double
      cost_usd; /* the most that all of it may cost; negative: limits.cost_usd of the pipeline, in each run */
} rkb_judge_runs_t;

/* Judges, or goes on with what was begun.  RKB_EXIT_OK, or why it did not end; it has said so then. */
int rkb_judge_runs_go(const rkb_judge_runs_t *runs);
/* Adds every archive of the sweep; a run that has none yet adds nothing. */
int rkb_judge_runs_tally(const rkb_judge_runs_t *runs, rkb_judge_tally_t *tally, rkb_error_t *err);
/* Whether something was begun, so that there is something to count. */
bool rkb_judge_runs_begun(const rkb_judge_runs_t *runs);

#endif
