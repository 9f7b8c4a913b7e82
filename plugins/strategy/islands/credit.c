/* Fading means of operators' rewards. */
#include "credit.h"

void credit_reward(credit_t *credit, uint32_t operator_index, double reward, double memory) {
   double *quality = &credit->quality[operator_index];
   *quality = memory * *quality + (1 - memory) * reward;
}

void credit_chances(const credit_t *credit, const double *weights, double floor, double *chances) {
   double total = 0;
   for (uint32_t i = 0; i < credit->count; i++)
      total += credit->quality[i];
   for (uint32_t i = 0; i < credit->count; i++)
      chances[i] = total > 0 ? weights[i] * (floor + credit->quality[i] / total) : weights[i];
}
