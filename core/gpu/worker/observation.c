/* Dispatches to the two kinds of observation, and holds their common parts.  Owns nothing; one thread. */
#include "gpu/worker/observation.h"
#include "gpu/worker/counted_run.h"
#include "gpu/worker/recorded_run.h"

CUresult rkb_observed_run(const rkb_observing_t *o) {
   const rkb_driver_t *d = o->driver;
   rkb_asked_t asked;
   CUresult status = rkb_instance_enqueue(d, o->instance, &asked);
   return status == CUDA_SUCCESS ? rkb_wait(d, o->request->deadline_ms) : status;
}

/* Prepares the inputs as for every timed run, and leaves none of them in the second-level cache. */
CUresult rkb_observed_prepare(const rkb_observing_t *o) {
   const rkb_driver_t *d = o->driver;
   CUresult status = rkb_instance_prepare(d, o->instance, o->inputs, o->request->set, NULL);
   if (status == CUDA_SUCCESS)
      status = rkb_flush(d, o->own);
   return status == CUDA_SUCCESS ? rkb_wait(d, o->request->deadline_ms) : status;
}

CUresult rkb_observe(const rkb_observing_t *o, rkb_worker_observed_t *observed) {
   rkb_cupti_t cupti;
   *observed = (rkb_worker_observed_t){.launches = o->instance->plan->launch_count};
   if (!rkb_cupti_open(&cupti, observed))
      return CUDA_SUCCESS;
   observed->metrics = o->request->what == RKB_OBSERVE_COUNTERS ? o->request->metrics : RKB_ACTIVITY_VALUES;
   return o->request->what == RKB_OBSERVE_COUNTERS ? rkb_counted_run(&cupti, o, observed)
                                                   : rkb_recorded_run(&cupti, o, observed);
}
