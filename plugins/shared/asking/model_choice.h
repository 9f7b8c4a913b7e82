/* Which of a stage's models is asked: chosen by weight, or by what each has earned for its cost so far.  Pure
 * but for the job's random stream and its window on the archive. */
#ifndef PLUGIN_ASKING_CHOICE_H
#define PLUGIN_ASKING_CHOICE_H

#include <rkb/ext/llm.h>
#include <rkb/ext/random.h>
#include "context.h"

#define CHOICE_MOST 16

/* One row of a stage's "models:". */
typedef struct choice_model {
   const char *model;
   double weight;
   double temperature;        /* negative: what the model's entry says */
   int64_t max_output_tokens; /* 0: what the model's entry says */
} choice_model_t;

#define CHOICE_OPTIONS                                                                                       \
   {.name = "model",                                                                                         \
    .type = RKB_OPT_MODEL,                                                                                   \
    .flags = RKB_OPT_REQUIRED,                                                                               \
    .offset = offsetof(choice_model_t, model),                                                               \
    .help = "The model's name under the pipeline's models:."},                                               \
      {.name = "weight",                                                                                     \
       .type = RKB_OPT_REAL,                                                                                 \
       .offset = offsetof(choice_model_t, weight),                                                           \
       .fallback = "1",                                                                                      \
       .min = 0,                                                                                             \
       .max = 1e6,                                                                                           \
       .help = "How often to ask it, relative to the other models."},                                        \
      {.name = "temperature",                                                                                \
       .type = RKB_OPT_REAL,                                                                                 \
       .offset = offsetof(choice_model_t, temperature),                                                      \
       .fallback = "-1",                                                                                     \
       .min = -1,                                                                                            \
       .max = 2,                                                                                             \
       .help = "Temperature for this stage; -1: the model's own."},                                          \
   {                                                                                                         \
      .name = "max_output_tokens", .type = RKB_OPT_INT,                                                      \
      .offset = offsetof(choice_model_t, max_output_tokens), .fallback = "0", .min = 0, .max = 10000000,     \
      .help = "Output limit for this stage, below the model's own; 0: the model's own."                      \
   }

/* Returns the index of the model for a proposal.  how: "weights", "ucb" or "thompson". */
uint32_t choice_make(const context_t *context, const char *how, const choice_model_t *models, uint32_t count,
                     rkb_random_t *stream);

/* bandit.c: what one model gave so far, from the notes of the archive's candidates ("model NAME, $0.0123; ..."). */
typedef struct bandit_arm {
   uint32_t tries, accepted;
   double gain, cost;
} bandit_arm_t;

/* Adds one more candidate to an arm; best: the best objective before it, or infinity. */
void bandit_reward(bandit_arm_t *arm, double cost, bool accepted, double objective, double best);

void bandit_read(const context_t *context, const choice_model_t *models, uint32_t count, bandit_arm_t *arms);
uint32_t bandit_ucb(const bandit_arm_t *arms, uint32_t count);
uint32_t bandit_thompson(const bandit_arm_t *arms, uint32_t count, const rkb_random_api_t *random,
                         rkb_random_t *stream);

/* Fills the prompt from the context and asks the model.  *answer is owned. */
int choice_ask(context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt, uint32_t child,
               const choice_model_t *model, rkb_llm_answer_t **answer, rkb_error_t *err);

#endif
