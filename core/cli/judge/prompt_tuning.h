/* rkb judge --tune: finds which of several prompts makes the best judge.  Every prompt judges the part of the
 * corpus that tunes.  A model may write further prompts from the mistakes of the best one.  At the end the
 * prompt with the best F1 and the first prompt judge the part that was kept out.  Prompts and verdicts are
 * stored in --out, by the prompt's hash, so that the same command continues where it stopped.  Only the main
 * thread. */
#ifndef RKB_CLI_JUDGE_PROMPT_TUNING_H
#define RKB_CLI_JUDGE_PROMPT_TUNING_H

#include "cli/shared/arguments.h"
#include "cli/judge/labelled_corpus.h"

enum { RKB_TUNING_ROUNDS = 32, RKB_TUNING_PROMPTS = 64 };

typedef struct rkb_prompt_tuning {
   /* --tune, --prompt, --writer, --pipeline, --out, and the options that judge_runs.h passes on. */
   const rkb_arguments_t *arguments;
   rkb_labelled_corpus_t *corpus; /* is divided into parts, if it is not yet */
   uint64_t seed;                 /* seed of that division */
   double cost_usd;               /* cost limit for all of it; negative: see judge_runs.h */
} rkb_prompt_tuning_t;

/* rounds: how many prompts the writer is asked for, if there is a writer.  Returns an exit code; prints the
 * figures. */
int rkb_prompt_tuning_run(const rkb_prompt_tuning_t *tuning, uint32_t rounds);

#endif
