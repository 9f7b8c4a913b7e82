/* The incumbent of a run that is being resumed. */
#ifndef TIME_INCUMBENT_RESTORE_H
#define TIME_INCUMBENT_RESTORE_H

#include "incumbent.h"

/* Puts the fastest candidate that this stage has timed, of those that the job may see in the archive, into an empty holder;
 * nothing when there is none. */
int incumbent_restore(const struct timer *me, rkb_job_t job, rkb_error_t *err);

#endif
