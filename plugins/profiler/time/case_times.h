/* The times of one case, from all its sittings. */
#ifndef TIME_TIMING_H
#define TIME_TIMING_H

#include "sitting.h"
#include "statistics.h"

/* Times of one case over all its sittings. */
struct timing {
   estimate_t cold, warm; /* milliseconds */
   estimate_t ratio;      /* of the candidate's cold time to the incumbent's; NaN without one */
   size_t samples, sittings, discarded;
   estimate_t copy;                         /* the tuned copy's; NaN without one */
   double floor, copy_anchor, chain_anchor; /* milliseconds */
   bool right;
   char wrong[256];
};

/* Holds the sittings of the subject's case and estimates its times from those held under the same conditions: quick mode
 * one, full mode three allocations in each of two processes.  Outputs that are not right, a fault, or a device that
 * changed meanwhile are no error: timing->right is false then, wrong says why, and no time is in it. */
int timing_of_case(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                   struct timing *timing, rkb_error_t *err);

#endif
