/* The program's side of one job that runs in a process of its own (confined/confined.h). */
#ifndef RKB_STAGE_CONFINED_CALL_H
#define RKB_STAGE_CONFINED_CALL_H

#include "stage/instance.h"

/* As the stage's run, in a process of its own, on this machine or on a screening worker.  [worker] */
int rkb_confined_run(rkb_instance_t *instance, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err);

#endif
