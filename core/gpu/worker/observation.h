/* One run of a plan under CUPTI: the hardware's counters of each launch, or the driver's record of it
 * (protocol.h).  One thread.  The process may be slower afterwards, so no run in it is timed any more. */
#ifndef RKB_GPU_WORKER_OBSERVATION_H
#define RKB_GPU_WORKER_OBSERVATION_H

#include "gpu/protocol.h"
#include "gpu/worker/plan_instance.h"
#include "gpu/worker/staged_inputs.h"

/* One request.  names: as many as request->metrics, which is at most RKB_WORKER_MAX_METRICS.  values has room for launches x metrics,
 * where an ACTIVITY has RKB_ACTIVITY_VALUES metrics.  Always fills observed; an error of the driver itself is also returned. */
typedef struct rkb_observing {
   const rkb_driver_t *driver;
   const rkb_worker_kernels_t *own; /* for emptying the second-level cache */
   const rkb_instance_t *instance;
   rkb_values_t *inputs;
   const rkb_worker_observe_t *request;
   const char *names[RKB_WORKER_MAX_METRICS];
   double *values;
} rkb_observing_t;

CUresult rkb_observe(const rkb_observing_t *observing, rkb_worker_observed_t *observed);

/* Used by both kinds: prepare restores the inputs and empties the second-level cache; the other function
 * makes one run.  Both wait. */
CUresult rkb_observed_prepare(const rkb_observing_t *observing);
CUresult rkb_observed_run(const rkb_observing_t *observing);

#endif
