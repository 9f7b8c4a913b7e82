/* Hardware counters of each launch, by CUPTI's range profiler.  One thread. */
#ifndef RKB_GPU_WORKER_COUNTED_RUN_H
#define RKB_GPU_WORKER_COUNTED_RUN_H

#include "gpu/worker/cupti_library.h"
#include "gpu/worker/observation.h"

/* As rkb_observe. */
CUresult rkb_counted_run(const rkb_cupti_t *cupti, const rkb_observing_t *observing, rkb_worker_observed_t *observed);

#endif
