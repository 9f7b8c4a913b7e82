/* Makes measurements from counters, or from activity and the compiler's figures.  Owns nothing. */
#include "launch_report.h"
#include <math.h>
#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>

static int emit(const profiler_t *p, rkb_job_t job, const char *name, double value, const char *unit, const char *better,
                const char *method, const char *case_name, json_t *detail) {
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
   int status = rkb_emit_measurement(p->host, job,
                                     &(rkb_measurement_t){.name = name,
                                                          .value = value,
                                                          .unit = unit,
                                                          .better = better,
                                                          .method = method,
                                                          .spread = -1,
                                                          .case_name = case_name,
                                                          .detail = text});
   free(text);
   json_decref(detail);
   return status;
}

/* Occupancy, from what the build and the device's profile say of a launch. */
static rkb_occupancy_t occupancy_of(const profiler_t *p, const profiled_plan_t *plan, uint32_t launch, double *waves) {
   const rkb_plan_launch_t *l = &plan->plan->launches[launch];
   const rkb_device_t *device = p->kernel->device(p->host);
   const rkb_occupancy_t occupancy = p->kernel->occupancy(device, &plan->build->kernels[l->kernel],
                                                          l->block[0] * l->block[1] * l->block[2], l->dynamic_shared);
   const double resident = (double)occupancy.blocks * (double)device->multiprocessors;
   *waves = resident > 0 ? (double)l->grid[0] * l->grid[1] * l->grid[2] / resident : NAN;
   return occupancy;
}

int report_counted(const profiler_t *p, rkb_job_t job, const profiled_plan_t *plan, const double *values, const char *method,
                   launch_totals_t *totals) {
   json_t *launches = json_array();
   double us = 0, dram = 0, tensor = 0;
   for (uint32_t i = 0; i < plan->plan->launch_count; i++) {
      const double *v = values + (size_t)i * COUNTER_COUNT;
      counted_launch_t counted = {.values = v,
                                  .kernel = plan->plan->launches[i].expression,
                                  .empty_launch_s = p->kernel->device(p->host)->graph_launch_s};
      counted.occupancy_by = occupancy_of(p, plan, i, &counted.waves).limited_by;
      json_array_append_new(launches, counted_launch_json(&counted));
      const double launch_us = v[COUNTER_TIME] / 1e3;
      us += launch_us;
      dram += launch_us * v[COUNTER_DRAM] / 100;
      tensor += launch_us * v[COUNTER_TENSOR] / 100;
      totals->occupancy += launch_us * v[COUNTER_WARPS] / 100;
      totals->weight += launch_us;
      totals->limited[counted_limiter(v)] += launch_us;
   }
   if (!(us > 0)) { /* the counter was not read: no time is better than a wrong one */
      json_decref(launches);
      return RKB_OK;
   }
   totals->log_us += log(us);
   totals->dram += dram / us;
   totals->tensor += tensor / us;
   totals->cases++;
   totals->counted++;
   return emit(p, job, "kernel_us", us, "us", "lower", method, plan->the_case->name,
               json_pack("{s:s, s:o}", "source", "hardware counters", "launches", launches));
}

/* Figures of ptxas and the driver take the place of counters. */
static json_t *launch_without_counters(const profiler_t *p, const profiled_plan_t *plan, uint32_t launch, const double *a) {
   const rkb_built_kernel_t *kernel = &plan->build->kernels[plan->plan->launches[launch].kernel];
   double waves;
   const rkb_occupancy_t occupancy = occupancy_of(p, plan, launch, &waves);
   char sentence[256];
   snprintf(sentence, sizeof sentence,
            "nothing that was counted; %u registers, %u bytes spilled, %.0f bytes of shared memory a block, %.0f %% of the warps "
            "fit%s%s, %.1f waves",
            kernel->registers, kernel->spill_store_bytes,
            a[RKB_ACTIVITY_BLOCK_STATIC] + a[RKB_ACTIVITY_BLOCK_DYNAMIC], 100 * occupancy.share,
            occupancy.limited_by ? ", limited by " : "", occupancy.limited_by ? occupancy.limited_by : "", waves);
   return json_pack("{s:s, s:f, s:s, s:i, s:i, s:f, s:f}", "kernel", plan->plan->launches[launch].expression, "us",
                    a[RKB_ACTIVITY_TIME] / 1e3, "sentence", sentence, "registers", (int)kernel->registers, "spill_bytes",
                    (int)kernel->spill_store_bytes, "occupancy", occupancy.share, "waves", isfinite(waves) ? waves : 0);
}

int report_activity(const profiler_t *p, rkb_job_t job, const profiled_plan_t *plan, const double *activity, const char *why,
                    launch_totals_t *totals) {
   char method[200];
   json_t *launches = json_array();
   double us = 0;
   for (uint32_t i = 0; i < plan->plan->launch_count; i++) {
      const double *a = activity + (size_t)i * RKB_ACTIVITY_COUNT;
      json_array_append_new(launches, launch_without_counters(p, plan, i, a));
      us += a[RKB_ACTIVITY_TIME] / 1e3;
   }
   if (!(us > 0)) {
      json_decref(launches);
      return RKB_OK;
   }
   totals->log_us += log(us);
   totals->cases++;
   snprintf(method, sizeof method, "activity records of one cold run, no counters: %.120s", why);
   return emit(p, job, "kernel_us", us, "us", "lower", method, plan->the_case->name,
               json_pack("{s:s, s:s, s:o}", "source", "activity records", "why", why, "launches", launches));
}

static enum limiter largest_of(const double limited[LIMIT_COUNT]) {
   int largest = 0;
   for (int i = 1; i < LIMIT_COUNT; i++)
      if (limited[i] > limited[largest])
         largest = i;
   return (enum limiter)largest;
}

int report_totals(const profiler_t *p, rkb_job_t job, const launch_totals_t *t, uint32_t expected, const char *method) {
   if (t->cases == 0 || t->cases != expected)
      return RKB_OK;
   int status = emit(p, job, "kernel_us", exp(t->log_us / t->cases), "us", "lower", method, NULL, NULL);
   if (t->counted != t->cases)
      return status;
   if (status == RKB_OK)
      status = emit(p, job, "memory_share", t->dram / t->cases, "1", "", method, NULL, NULL);
   if (status == RKB_OK)
      status = emit(p, job, "tensor_share", t->tensor / t->cases, "1", "", method, NULL, NULL);
   if (status == RKB_OK)
      status = emit(p, job, "occupancy", t->occupancy / t->weight, "1", "", method, NULL, NULL);
   return status == RKB_OK ? emit(p, job, "limiter", largest_of(t->limited), "1", "", method, NULL, NULL) : status;
}
