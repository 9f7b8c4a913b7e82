/* What the server of confined/ and its forks do: they make instances and execute one job each. */
#ifndef RKB_STAGE_CONFINED_JOB_H
#define RKB_STAGE_CONFINED_JOB_H

#include "stage/confined/confined.h"
#include "stage/runtime.h"

/* For rkb_confined_open.  runtime: opened, but still without threads; the server and each fork work on their copies of it. */
rkb_confined_work_t rkb_confined_work_of(rkb_runtime_t *runtime);

#endif
