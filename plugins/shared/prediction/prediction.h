/* A candidate's predicted time, handed on from the stage that predicts it to later stages of the same candidate.  The archive shows
 * measurements of earlier candidates only. */
#ifndef PREDICTION_H
#define PREDICTION_H

#include <rkb/ext/kernel.h>

/* us: over all bench cases. */
int prediction_keep(const rkb_kernel_api_t *kernel, const rkb_host_t *host, rkb_job_t job, double us);
/* The newest one; false where nothing was predicted. */
bool prediction_read(const rkb_kernel_api_t *kernel, const rkb_host_t *host, rkb_job_t job, double *us);

#endif
