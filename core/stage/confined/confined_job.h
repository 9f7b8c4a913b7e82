/* The fork that runs one job (confined.h), and what the server makes ready for it. */
#ifndef RKB_STAGE_CONFINED_CONFINED_JOB_H
#define RKB_STAGE_CONFINED_CONFINED_JOB_H

#include "stage/runtime.h"

void confined_job_open(rkb_runtime_t *runtime);                 /* in the server, once */
void confined_job_warm(rkb_runtime_t *runtime, uint32_t entry); /* in the server: makes the stage's instance if there is none */
/* In the fork: reads the job, runs it, answers.  False when the program could not be understood or is gone. */
bool confined_job_serve(rkb_runtime_t *runtime, uint32_t entry, uint32_t threads, int channel);

#endif
