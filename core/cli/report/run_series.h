/* The data of one run that a comparison needs: the value of its best candidate so far, over evaluations,
 * seconds, answers of language models and dollars.  Only the main thread. */
#ifndef RKB_CLI_REPORT_RUN_SERIES_H
#define RKB_CLI_REPORT_RUN_SERIES_H

#include <stdbool.h>
#include "archive/archive.h"
#include "statistics/step_curve.h"

/* The kinds of spending of a run. */
enum rkb_spending { RKB_OVER_EVALUATIONS, RKB_OVER_SECONDS, RKB_OVER_CALLS, RKB_OVER_DOLLARS, RKB_SPENDINGS };
extern const char *const rkb_spending_names[RKB_SPENDINGS]; /* "evaluations", "seconds", "calls", "usd" */

typedef struct rkb_run_series {
   char *directory, *arm, *subject; /* subject: "softmax forward on h200"; owned */
   char *objective, *unit;
   uint64_t seed;
   double value; /* value of the best accepted candidate; NaN: no candidate was accepted */
   /* Value of the best of the first candidates, or of the first accepted one; NaN: none. */
   double first;
   double total[RKB_SPENDINGS]; /* total spending; NaN: the archive does not say */
   rkb_step_curve_t
      best[RKB_SPENDINGS]; /* the best value so far; an evaluation is a candidate that is no duplicate */
} rkb_run_series_t;

/* Reads a run.  arm: its name in the comparison; NULL: its pipeline's name.  A run that has not ended cannot
 * be compared: *why receives a sentence, and the call returns RKB_OK with *series untouched.  If why is NULL,
 * an unfinished run is read as far as it came. */
int rkb_run_series_read(const char *directory, const char *arm, rkb_run_series_t *series, const char **why,
                        rkb_error_t *err);
void rkb_run_series_clear(rkb_run_series_t *series);

#endif
