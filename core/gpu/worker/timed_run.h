/* Timed runs: remove what earlier runs left, write the inputs, poison the outputs, empty the second-level cache by reading; then event, graph, event.  One thread. */
#ifndef RKB_GPU_WORKER_TIMED_RUN_H
#define RKB_GPU_WORKER_TIMED_RUN_H

#include "gpu/worker/plan_instance.h"
#include "gpu/worker/worker_kernels.h"

/* Runs one turn.  If `in` is NULL, times what the turn names instead: nothing, or an anchor.  *milliseconds
 * is the time between the events.  No kernel can know `chance` (rkb_instance_reset, rkb_mixing_t).  CUDA_ERROR_NOT_READY: the deadline passed. */
CUresult rkb_time_turn(const rkb_driver_t *driver, const rkb_worker_kernels_t *own, rkb_instance_t *in,
                       rkb_values_t *values, const rkb_worker_turn_t *turn, uint64_t chance,
                       uint32_t deadline_ms, float *milliseconds);

#endif
