/* The recent rewards of each operator, and the chances that follow from them: probability matching with a
 * floor (Thierens: 'Adaptive strategies for operator allocation', 2007).  Pure; the loop's thread. */
#ifndef ISLANDS_CREDIT_H
#define ISLANDS_CREDIT_H

#include <stdint.h>

enum { CREDIT_OPERATORS_MAX = 64 };

typedef struct credit {
   double quality[CREDIT_OPERATORS_MAX]; /* fading mean of rewards */
   uint32_t count;
} credit_t;

/* memory: share of the old quality that a new reward leaves, 0 to 1. */
void credit_reward(credit_t *credit, uint32_t operator_index, double reward, double memory);

/* chances[i]: the configured weight times (floor + share of the sum of qualities).  While no operator has
 * credit, only the weights count. */
void credit_chances(const credit_t *credit, const double *weights, double floor, double *chances);

#endif
