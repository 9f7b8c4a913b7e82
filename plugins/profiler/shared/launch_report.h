/* What a profiler saw of the launches of one case, as a measurement with the detail that `rkb show`, prompts and mutators read: the same
 * form that rkb.profiler.model gives.  Runs on a worker. */
#ifndef PROFILER_LAUNCH_REPORT_H
#define PROFILER_LAUNCH_REPORT_H

#include <jansson.h>
#include "hardware_counters.h"
#include "profiled_plan.h"

/* Sums over the cases that were reported. */
typedef struct launch_totals {
   double log_us, dram, tensor; /* sums of the logarithm of the time, of shares of the peak */
   double limited[LIMIT_COUNT]; /* us of the launches that each resource limits */
   double occupancy, weight;    /* weighted by time */
   uint32_t cases, counted;     /* of them, those with counters */
} launch_totals_t;

/* Emits "kernel_us" of a case.  values: COUNTER_COUNT a launch.  method says how they were obtained. */
int report_counted(const profiler_t *profiler, rkb_job_t job, const profiled_plan_t *plan, const double *values,
                   const char *method, launch_totals_t *totals);
/* The same where counters are refused: activity has RKB_ACTIVITY_COUNT a launch; why says why there is no more. */
int report_activity(const profiler_t *profiler, rkb_job_t job, const profiled_plan_t *plan, const double *activity,
                    const char *why, launch_totals_t *totals);
/* Emits the means over the cases, when there are as many as `expected`: kernel_us, and where every case was counted memory_share,
 * tensor_share, occupancy and limiter. */
int report_totals(const profiler_t *profiler, rkb_job_t job, const launch_totals_t *totals, uint32_t expected,
                  const char *method);

#endif
