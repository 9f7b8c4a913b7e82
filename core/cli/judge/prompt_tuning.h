/* rkb judge --tune: which of several prompts makes the best judge.  Every prompt judges the part of the corpus that tunes; a model may write
 * more of them from what the best one got wrong; the one with the best F1 and the first one then judge the part that was kept out.  Prompts and
 * verdicts lie in --out, by the prompt's hash, so the same command goes on where it was.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_PROMPT_TUNING_H
#define RKB_CLI_JUDGE_PROMPT_TUNING_H

#include "cli/arguments.h"
#include "cli/judge/labelled_corpus.h"

enum { RKB_TUNING_ROUNDS = 32, RKB_TUNING_PROMPTS = 64 };

typedef struct rkb_prompt_tuning {
   const rkb_arguments_t
      *arguments; /* --tune, --prompt, --writer, --pipeline, --out, and what judge_runs.h passes on */
   rkb_labelled_corpus_t *corpus; /* is divided, if it is not yet */
   uint64_t seed;                 /* of that */
   double cost_usd;               /* the most that all of it may cost; negative: see judge_runs.h */
} rkb_prompt_tuning_t;

/* rounds: how many prompts the writer is asked for, if there is one.  An exit code; prints the figures. */
int rkb_prompt_tuning_run(const rkb_prompt_tuning_t *tuning, uint32_t rounds);

#endif
