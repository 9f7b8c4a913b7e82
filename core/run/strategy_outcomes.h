/* Tells the strategy what became of each finished request, in the row's order, and counts it.  Loop thread. */
#ifndef RKB_RUN_STRATEGY_OUTCOMES_H
#define RKB_RUN_STRATEGY_OUTCOMES_H

#include <stdbool.h>
#include <stdint.h>

struct rkb_run;

/* All requests told so far.  Limits count these, so a limit falls at the same request whatever the speed. */
typedef struct rkb_tally {
   uint64_t requests;
   uint64_t candidates;     /* without duplicates */
   uint64_t by_standing[5]; /* of them, by rkb_standing_rank */
   uint64_t stale;          /* search requests in a row without a better candidate */
   uint64_t barren;         /* search requests in a row without a candidate that is no duplicate */
   int64_t best;            /* candidate number; 0: none */
   bool best_has_objective;
   double best_objective;
   double best_least;      /* how low the best one's objective can get; NaN: not known */
   double first_objective; /* of the best candidate of the propose section; NaN: none */
} rkb_tally_t;

/* Tells the next request, if it is finished; true when it did something. */
bool rkb_telling_next(struct rkb_run *run);

#endif
