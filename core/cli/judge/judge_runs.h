/* Judges the kernels of a labelled corpus with a pipeline's verifiers.  It is a sweep of rkb-run, with an arm
 * for every 64 kernels, in a directory of its own.  So ^C and a kill lose no verdict, and the same call
 * continues.  Only the main thread. */
#ifndef RKB_CLI_JUDGE_JUDGE_RUNS_H
#define RKB_CLI_JUDGE_JUDGE_RUNS_H

#include "cli/shared/arguments.h"
#include "cli/judge/judge_tally.h"

typedef struct rkb_judge_runs {
   const rkb_arguments_t *arguments; /* its --cells, --jobs, --secret and --quiet go to rkb-run */
   const char *pipeline;             /* as the user names it; NULL: the shipped judge.yaml */
   const rkb_labelled_corpus_t *corpus;
   const char *directory;
   const char *option, *value; /* an option of the pipeline, as --set names it, and its value; NULL: none */
   /* Cost limit for all runs together; negative: limits.cost_usd of the pipeline, in each run. */
   double cost_usd;
} rkb_judge_runs_t;

/* Judges the kernels, or continues an earlier call.  Returns RKB_EXIT_OK, or the code of the reason why it
 * did not end, after a message. */
int rkb_judge_runs_go(const rkb_judge_runs_t *runs);
/* Adds every archive of the sweep; a run without an archive adds nothing. */
int rkb_judge_runs_tally(const rkb_judge_runs_t *runs, rkb_judge_tally_t *tally, rkb_error_t *err);
/* Whether a run has begun, so that there is something to count. */
bool rkb_judge_runs_begun(const rkb_judge_runs_t *runs);

#endif
