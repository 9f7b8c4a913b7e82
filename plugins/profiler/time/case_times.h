/* Times of one case, from all its sittings. */
#ifndef TIME_TIMING_H
#define TIME_TIMING_H

#include "sitting.h"
#include "statistics.h"

/* Times of one case over all its sittings. */
struct timing {
   estimate_t cold, warm; /* milliseconds */
   /* The candidate's cold time, divided by the incumbent's; NaN without an incumbent. */
   estimate_t ratio;
   size_t samples, sittings, discarded;
   /* The tuned copy's cold time; NaN without one. */
   estimate_t copy;
   double floor, copy_anchor, chain_anchor; /* milliseconds */
   bool right;
   char wrong[256];
};

/* Holds the sittings of the subject's case, and estimates its times from those that were held under the same
 * conditions: quick mode one, full mode three allocations in each of two processes.  Wrong outputs, a fault,
 * or a device that changed meanwhile are no error: timing->right is false then, wrong says why, and no time
 * is given. */
int timing_of_case(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                   struct timing *timing, rkb_error_t *err);

#endif
