/* Choosing a model (model_choice.h). */
#include "model_choice.h"

#include <string.h>

static uint32_t by_weight(const choice_model_t *models, uint32_t count, double point) {
   double total = 0;
   for (uint32_t i = 0; i < count; i++)
      total += models[i].weight;
   point *= total;
   for (uint32_t i = 0; i + 1 < count; i++) {
      point -= models[i].weight;
      if (point < 0)
         return i;
   }
   return count - 1;
}

uint32_t choice_make(const context_t *context, const char *how, const choice_model_t *models, uint32_t count,
                     rkb_random_t *stream) {
   bandit_arm_t arms[CHOICE_MOST] = {{0}};
   double point =
      /* Draws in any case, so that the stream moves on by the same number. */
      context->services->random->real(stream);
   if (count > CHOICE_MOST)
      count = CHOICE_MOST;
   if (count < 2 || strcmp(how, "weights") == 0)
      return by_weight(models, count, point);
   bandit_read(context, models, count, arms);
   return strcmp(how, "ucb") == 0 ? bandit_ucb(arms, count)
                                  : bandit_thompson(arms, count, context->services->random, stream);
}

int choice_ask(context_t *context, const rkb_llm_api_t *llm, const rkb_prompt_t *prompt, uint32_t child,
               const choice_model_t *model, rkb_llm_answer_t **answer, rkb_error_t *err) {
   rkb_filled_prompt_t *filled = NULL;
   int status = context_fill(context, prompt, child, &filled, err);
   if (status != RKB_OK)
      return status;
   const rkb_llm_question_t question = {.size = sizeof question,
                                        .child = child,
                                        .model = model->model,
                                        .system = filled->system,
                                        .user = filled->user,
                                        .provenance = filled->provenance,
                                        .temperature = model->temperature,
                                        .most_output_tokens = model->max_output_tokens};
   status = llm->ask(context->host, context->job, &question, answer, err);
   context->services->prompt->free(filled);
   return status;
}
