/* The tuned copy: how long a kernel takes that only moves the case's bytes, in the same sitting and by the
 * same protocol. */
#ifndef TIME_COPIES_H
#define TIME_COPIES_H

#include "sitting.h"

/* Times copies that read what the case's inputs hold and write what its outputs hold, split over as many launches as the
 * candidate's plan has, in several shapes of grid; sitting->copies gets the samples of the fastest, owned by the sitting.
 * Its buffers come and go within the call. */
int copies_time(const struct timer *me, const struct subject *subject, uint32_t deadline_ms,
                struct sitting *sitting, rkb_error_t *err);

#endif
