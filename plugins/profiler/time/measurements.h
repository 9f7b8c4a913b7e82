/* Emits the stage's measurements of a candidate, and decides whether it becomes the incumbent. */
#ifndef TIME_MEASUREMENTS_H
#define TIME_MEASUREMENTS_H

#include "incumbent.h"
#include "case_times.h"

/* What is known after all cases. */
struct account {
   double log_cold, log_ratio;
   uint32_t timed, cases;
   bool every_case_holds; /* no case is certainly slower than the incumbent's */
};

/* Emits a case's cold and warm time and adds them to the account.  state: the device's, as JSON. */
int measure_case(const struct timer *me, rkb_job_t job, const char *case_name, const struct timing *timing,
                 const char *state, struct account *account);
/* Emits the mean over all cases.  The first candidate becomes the incumbent, and so does one that is
 * certainly faster.  Takes over plans, one for each case, whatever it returns. */
int measure_whole(const struct timer *me, rkb_job_t job, const rkb_build_t *build,
                  const struct subject *subject, const incumbent_t *rival, rkb_plan_t **plans,
                  const struct account *account);

#endif
