/* What a strategy keeps of a candidate it was told of, and how two are ranked.  Pure; the loop's thread. */
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

/* May be a parent: not rejected, no duplicate of one told before. */
bool individual_is_viable(const rkb_told_t *told);

/* Negative when left is better: accept before suspect before unknown, measured before not, then the
 * objective, then the lower number. */
int individual_compare(const individual_t *left, const individual_t *right);

#endif
