/* One timed run, as described in docs/timing.md.  One thread. */
#include "gpu/worker/timed_run.h"

/* The inputs are written last, so that they are as warm as without the reset. */
static CUresult begin_run(const rkb_driver_t *d, const rkb_worker_kernels_t *own, rkb_instance_t *in,
                          rkb_values_t *values, const rkb_worker_turn_t *turn, bool untimed,
                          uint64_t chance) {
   const rkb_mixing_t mixing = {
      .kernels = own, .half = turn->fresh, .own = turn->fresh & RKB_TURN_CHECKED && !untimed, .key = chance};
   const CUresult status = rkb_instance_reset(d, in, chance >> 32);
   return status == CUDA_SUCCESS
             ? rkb_instance_prepare(d, in, values, turn->set, turn->fresh & RKB_TURN_FRESH ? &mixing : NULL)
             : status;
}

CUresult rkb_time_turn(const rkb_driver_t *d, const rkb_worker_kernels_t *own, rkb_instance_t *in,
                       rkb_values_t *values, const rkb_worker_turn_t *turn, uint64_t chance,
                       uint32_t deadline_ms, float *milliseconds) {
   CUresult status = CUDA_SUCCESS;
   if (in)
      status = begin_run(d, own, in, values, turn, turn->warm, chance);
   if (in && turn->warm && status == CUDA_SUCCESS) {
      status = d->cuGraphLaunch(in->graph, d->stream);
      /* A plan that works in place has changed its inputs, so values are written again: other values, for no run may find what the run
       * before it found. */
      if (status == CUDA_SUCCESS)
         status = begin_run(d, own, in, values, turn, false, ~chance);
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
