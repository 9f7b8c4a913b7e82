/* The data that a strategy keeps of a told candidate, and the ranking of two.  Pure; the loop's thread. */
#ifndef STRATEGY_INDIVIDUAL_H
#define STRATEGY_INDIVIDUAL_H

#include <rkb/strategy.h>

enum standing { STANDING_ACCEPT, STANDING_SUSPECT, STANDING_UNKNOWN, STANDING_REJECT };

typedef struct individual {
   int64_t number;
   enum standing standing;
   bool has_objective;
   double objective;
} individual_t;

individual_t individual_of(const rkb_told_t *told);

/* Whether a candidate may be a parent: it is not rejected, and no duplicate of one told before. */
bool individual_is_viable(const rkb_told_t *told);

/* Negative when left is better: accept before suspect before unknown, measured before not, then the
 * objective, then the lower number. */
int individual_compare(const individual_t *left, const individual_t *right);

#endif
