/* What the stage says of a candidate, and whether that makes it the incumbent. */
#ifndef TIME_MEASUREMENTS_H
#define TIME_MEASUREMENTS_H

#include "incumbent.h"
#include "case_times.h"

/* What is known after all cases. */
struct account {
   double log_cold, log_ratio;
   uint32_t timed, cases;
   bool every_case_holds; /* no case is surely slower than the incumbent's */
};

/* Emits a case's cold and warm time and adds them to the account.  state: the device's, as JSON. */
int measure_case(const struct timer *me, rkb_job_t job, const char *case_name, const struct timing *timing,
                 const char *state, struct account *account);
/* Emits the mean over all cases; a candidate that is faster beyond doubt, or the first one, becomes the incumbent.  Takes
 * over plans, one a case, on RKB_OK and otherwise. */
int measure_whole(const struct timer *me, rkb_job_t job, const rkb_build_t *build,
                  const struct subject *subject, const incumbent_t *rival, rkb_plan_t **plans,
                  const struct account *account);

#endif
