/* What a profiler saw of the launches of one case, as a measurement.  Its detail, which `rkb show`, prompts
 * and mutators read, has the same form as rkb.profiler.model's.  Runs on a worker. */
#ifndef PROFILER_LAUNCH_REPORT_H
#define PROFILER_LAUNCH_REPORT_H

#include <jansson.h>
#include "hardware_counters.h"
#include "profiled_plan.h"

/* Sums over the cases that were reported. */
typedef struct launch_totals {
   double log_us, dram, tensor; /* sums of the logarithms of times, and of shares of peaks */
   double limited[LIMIT_COUNT]; /* us of the launches that each resource limits */
   double occupancy, weight;    /* both weighted by time */
   uint32_t cases, counted;     /* cases that were reported, and those among them with counters */
} launch_totals_t;

/* Emits "kernel_us" of a case.  values: COUNTER_COUNT for each launch.  method says how they were obtained. */
int report_counted(const profiler_t *profiler, rkb_job_t job, const profiled_plan_t *plan, const double *values,
                   const char *method, launch_totals_t *totals);
/* The same where counters are refused: activity has RKB_ACTIVITY_COUNT values for each launch; why says why
 * there are no others. */
int report_activity(const profiler_t *profiler, rkb_job_t job, const profiled_plan_t *plan, const double *activity,
                    const char *why, launch_totals_t *totals);
/* Emits means over the cases, when there are as many as `expected`: kernel_us and, where every case has
 * counters, memory_share, tensor_share, occupancy and limiter. */
int report_totals(const profiler_t *profiler, rkb_job_t job, const launch_totals_t *totals, uint32_t expected,
                  const char *method);

#endif
