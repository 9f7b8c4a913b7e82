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
