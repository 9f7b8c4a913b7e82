/* Questions in addition to the one for a kernel: lessons, a plan, recommendations.  An answer is a few lines for later prompts.
 * Without one, the job goes on.  Runs on the job's worker. */
#ifndef PLUGIN_ASKING_SIDE_QUESTION_H
#define PLUGIN_ASKING_SIDE_QUESTION_H

#include "model_choice.h"

/* The numbers of a job's questions: proposals are below the first. */
enum side_question_child { SIDE_LESSONS = 64, SIDE_PLAN, SIDE_ADVICE, SIDE_VARIANT };

typedef struct side_question {
   const rkb_prompt_t *prompt;
   const choice_model_t *models;
   uint32_t model_count;
   const char *choice;
   uint32_t child;      /* enum side_question_child */
   const char *what;    /* for the log: "lessons" */
   uint32_t most_bytes; /* of the answer; whole lines are kept */
} side_question_t;

typedef struct side_answer {
   char *text;        /* owned: lines of printable text; NULL when there was no answer or the budget is spent */
   const char *model; /* which one was asked */
   double worth_usd;
} side_answer_t;

/* Fills the prompt from the context and asks.  A failure is the program's own, or that the job was cancelled. */
int side_question_ask(context_t *context, const rkb_llm_api_t *llm, const side_question_t *question, side_answer_t *answer, rkb_error_t *err);

#endif
