/* The driver's record of each launch, by CUPTI's activity interface, which needs no permission.  The caller's
 * thread alone calls this; CUPTI calls back from a thread of its own while it is flushed. */
#ifndef RKB_GPU_WORKER_RECORDED_RUN_H
#define RKB_GPU_WORKER_RECORDED_RUN_H

#include "gpu/worker/cupti_library.h"
#include "gpu/worker/observation.h"

/* As rkb_observe. */
CUresult rkb_recorded_run(const rkb_cupti_t *cupti, const rkb_observing_t *observing, rkb_worker_observed_t *observed);

#endif
