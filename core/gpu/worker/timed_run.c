/* One timed run, as described in docs/timing.md.  One thread. */
#include "gpu/worker/timed_run.h"

CUresult rkb_time_turn(const rkb_driver_t *d, const rkb_worker_kernels_t *own, const rkb_instance_t *in,
                       rkb_values_t *values, const rkb_worker_turn_t *turn, uint32_t deadline_ms,
                       float *milliseconds) {
   CUresult status = CUDA_SUCCESS;
   if (in)
      status = rkb_instance_prepare(d, in, values, turn->set);
   if (in && turn->warm && status == CUDA_SUCCESS) {
      status = d->cuGraphLaunch(in->graph, d->stream);
      /* A plan that works in place has changed its inputs, so the values are copied in again. */
      if (status == CUDA_SUCCESS)
         status = rkb_instance_prepare(d, in, values, turn->set);
   } else if (status == CUDA_SUCCESS) {
      status = rkb_flush(d, own);
   }
   if (status == CUDA_SUCCESS)
      status = d->cuEventRecord(own->start, d->stream);
   if (in && status == CUDA_SUCCESS)
      status = d->cuGraphLaunch(in->graph, d->stream);
   else if (turn->instance == RKB_TURN_ANCHOR_COPY && status == CUDA_SUCCESS)
      status = rkb_anchor(d, own, RKB_ANCHOR_COPY, turn->set);
   else if (turn->instance == RKB_TURN_ANCHOR_CHAIN && status == CUDA_SUCCESS)
      status = rkb_anchor(d, own, RKB_ANCHOR_CHAIN, turn->set);
   if (status == CUDA_SUCCESS)
      status = d->cuEventRecord(own->stop, d->stream);
   if (status == CUDA_SUCCESS)
      status = rkb_wait(d, deadline_ms);
   if (status == CUDA_SUCCESS)
      status = d->cuEventElapsedTime(milliseconds, own->start, own->stop);
   return status;
}
