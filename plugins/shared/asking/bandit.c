/* The cost-aware bandit (model_choice.h): a model's reward is the gain that its candidates brought for a
 * dollar.  The cost of a candidate is what its reply is worth, as its note records it; a reply from the
 * archive or the cache counts like a bought one.  UCB1: Auer, Cesa-Bianchi, Fischer, 'Finite-time analysis of
 * the multiarmed bandit problem', 2002.  Thompson sampling with a normal approximation: Chapelle, Li, 'An
 * empirical evaluation of Thompson sampling', 2011. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model_choice.h"

#define ACCEPTED 0.05   /* a right kernel that is no faster is worth something: others can build on it */
#define LEAST_COST 1e-6 /* USD; a free model must not divide by zero */

/* Reads "model NAME, $0.0123; ..."; false when the note is of another form. */
static bool read_note(const char *note, const choice_model_t *models, uint32_t count, uint32_t *arm,
                      double *cost) {
   if (!note || strncmp(note, "model ", 6) != 0)
      return false;
   const char *name = note + 6, *comma = strstr(name, ", $");
   for (uint32_t i = 0; comma && i < count; i++)
      if (strlen(models[i].model) == (size_t)(comma - name) &&
          strncmp(models[i].model, name, (size_t)(comma - name)) == 0) {
         *arm = i;
         *cost = strtod(comma + 3, NULL);
         return true;
      }
   return false;
}

void bandit_reward(bandit_arm_t *arm, double cost, bool accepted, double objective, double best) {
   arm->tries++;
   arm->cost += cost;
   if (!accepted)
      return;
   arm->accepted++;
   arm->gain += ACCEPTED + (isfinite(best) && objective < best ? log(best / objective) : 0);
}

void bandit_read(const context_t *context, const choice_model_t *models, uint32_t count, bandit_arm_t *arms) {
   const rkb_archive_api_t *archive = context->services->archive;
   uint32_t rows = archive && context->rows ? archive->rows_count(context->rows) : 0;
   double best = INFINITY;
   for (uint32_t i = 0; i < rows; i++) {
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      bool accepted = strcmp(row->standing, RKB_ACCEPT) == 0 && row->has_objective && row->objective > 0;
      uint32_t arm;
      double cost;
      if (read_note(row->note, models, count, &arm, &cost))
         bandit_reward(&arms[arm], cost, accepted, row->objective, best);
      if (accepted && row->objective < best)
         best = row->objective;
   }
}

/* Gain for a dollar of each arm, scaled so that the best has 1: UCB's confidence term is made for rewards
 * from 0 to 1. */
static void rates(const bandit_arm_t *arms, uint32_t count, double *rate) {
   double most = 0;
   for (uint32_t i = 0; i < count; i++) {
      rate[i] = arms[i].gain / fmax(arms[i].cost, LEAST_COST);
      most = fmax(most, rate[i]);
   }
   for (uint32_t i = 0; i < count && most > 0; i++)
      rate[i] /= most;
}

uint32_t bandit_ucb(const bandit_arm_t *arms, uint32_t count) {
   double rate[CHOICE_MOST] = {0}, best = -1;
   uint32_t chosen = 0, total = 0;
   rates(arms, count, rate);
   for (uint32_t i = 0; i < count; i++)
      total += arms[i].tries;
   for (uint32_t i = 0; i < count; i++) {
      double score = arms[i].tries ? rate[i] + sqrt(2 * log((double)total) / arms[i].tries) : INFINITY;
      if (score > best) {
         best = score;
         chosen = i;
      }
   }
   return chosen;
}

uint32_t bandit_thompson(const bandit_arm_t *arms, uint32_t count, const rkb_random_api_t *random,
                         rkb_random_t *stream) {
   double rate[CHOICE_MOST] = {0}, best = -INFINITY;
   uint32_t chosen = 0;
   rates(arms, count, rate);
   for (uint32_t i = 0; i < count; i++) {
      double draw = rate[i] + random->normal(stream) / sqrt(arms[i].tries + 1.0);
      if (draw > best) {
         best = draw;
         chosen = i;
      }
   }
   return chosen;
}
