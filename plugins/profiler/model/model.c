/* rkb.profiler.model - predicts the time of a candidate on the target device, without one.
 *
 * Takes what rkb.verifier.machine counted on the bench cases, what the build reported and the device profile, and emits
 * one predicted time a case, their geometric mean, and the limiting resource in words.  Never rejects.  rkb.profiler.early_model
 * does so before the build step: it does not know the registers, so it tells the least time that any number of them gives.  Owns
 * nothing between jobs; runs on workers, any number at a time. */
#include <rkb/ext/counters.h>
#include <rkb/ext/kernel.h>
#include <rkb/items.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "describe.h"
#include "prediction/prediction.h"
#include "roofline.h"
#include "spills.h"

struct model {
   const rkb_host_t *host;
   const rkb_task_api_t *task;
   const rkb_kernel_api_t *kernel;
   bool early; /* before the build step: the build is RKB_BUILD_BENCH */
};

static int create(const rkb_host_t *host, bool early, void **self, rkb_error_t *err) {
   struct model *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct model){host, host->get_extension(host, RKB_EXT_TASK),
                        host->get_extension(host, RKB_EXT_KERNEL), early};
   *self = me;
   return RKB_OK;
}

static int model_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   return create(host, false, self, err);
}

static int early_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   return create(host, true, self, err);
}

/* Bytes of every buffer that the launch is given; a buffer that is updated in place counts twice, as read and
 * as written. */
static double referenced_bytes(const rkb_plan_t *plan, const rkb_plan_launch_t *launch) {
   double bytes = 0;
   for (uint32_t b = 0; b < plan->buffer_count; b++)
      for (uint32_t a = 0; a < launch->argument_count; a++)
         if (launch->arguments[a].buffer == b) {
            bytes += (double)plan->buffers[b].bytes * (plan->buffers[b].role == RKB_INOUT ? 2 : 1);
            break;
         }
   return bytes;
}

/* Finds the counters of one case's launches, and checks them against the plan that they name. */
static const rkb_launch_counters_t *find_launch(const rkb_counters_t *counters, const rkb_plan_t *plan,
                                                uint32_t case_index, uint32_t launch) {
   const char *rows = (const char *)counters + counters->size;
   for (uint32_t i = 0; counters->launch_size >= sizeof(rkb_launch_counters_t) && i < counters->launch_count;
        i++) {
      const rkb_launch_counters_t *row = (const void *)(rows + (size_t)i * counters->launch_size);
      if (row->case_index == case_index && row->launch == launch &&
          row->kernel == plan->launches[launch].kernel)
         return row;
   }
   return NULL;
}

/* Fills are part of the timed plan: each is a launch by the driver, which writes its buffer once. */
static double fill_seconds(const rkb_device_t *device, const rkb_plan_t *plan) {
   double seconds = 0;
   for (uint32_t i = 0; i < plan->buffer_count; i++)
      if (plan->buffers[i].fill == RKB_FILL_VALUE)
         seconds += device->graph_launch_s + (double)plan->buffers[i].bytes / device->memory_sustained;
   return seconds;
}

/* The time of a launch.  Before the build its registers are not known, so it may have any number of resident blocks up to *occ: the least time counts, and
 * *occ becomes the occupancy of that time. */
static launch_time_t time_of(const struct model *me, const rkb_build_t *build, const rkb_plan_t *plan,
                             uint32_t number, const bounded_grids_t *grids, const rkb_launch_counters_t *row,
                             rkb_occupancy_t *occ) {
   const rkb_device_t *device = me->kernel->device(me->host);
   const rkb_plan_launch_t *launch = &plan->launches[number];
   const block_turns_t turns = block_turns_of(device, plan, launch, row, grids);
   const double bytes = referenced_bytes(plan, launch);
   rkb_occupancy_t fewer = *occ;
   launch_time_t best = roofline_launch(device, *occ, row, turns, bytes,
                                        spilled_registers(device, build, launch, row, *occ), number == 0);
   while (me->early && fewer.blocks > 1) {
      const uint32_t warps = fewer.warps / fewer.blocks;
      fewer.share *= (double)(fewer.blocks - 1) / fewer.blocks;
      fewer.blocks--;
      fewer.warps -= warps;
      const launch_time_t time = roofline_launch(
         device, fewer, row, turns, bytes, spilled_registers(device, build, launch, row, fewer), number == 0);
      if (time.seconds < best.seconds) {
         best = time;
         *occ = fewer;
      }
   }
   return best;
}

/* Predicts one case.  False: the machine did not count every launch of it.  limited[l] receives in addition
 * the seconds of launches that l limits; *launches receives a JSON array (owned). */
static bool predict_case(const struct model *me, const rkb_build_t *build, const rkb_plan_t *plan,
                         const bounded_grids_t *grids, const rkb_counters_t *counters, uint32_t case_index,
                         double *seconds, double *occupancy, double limited[LIMIT_COUNT], json_t **launches) {
   const rkb_device_t *device = me->kernel->device(me->host);
   double weight = 0;
   *seconds = fill_seconds(device, plan);
   *occupancy = 0;
   *launches = json_array();
   for (uint32_t i = 0; i < plan->launch_count; i++) {
      const rkb_plan_launch_t *launch = &plan->launches[i];
      const rkb_launch_counters_t *row = find_launch(counters, plan, case_index, i);
      if (!row) {
         json_decref(*launches);
         *launches = NULL;
         return false;
      }
      rkb_occupancy_t occ = me->kernel->occupancy(device, &build->kernels[launch->kernel],
                                                  launch->block[0] * launch->block[1] * launch->block[2],
                                                  launch->dynamic_shared);
      const launch_time_t time = time_of(me, build, plan, i, grids, row, &occ);
      *seconds += time.seconds;
      *occupancy += occ.share * time.seconds;
      weight += time.seconds;
      limited[time.limiter] += time.seconds;
      json_array_append_new(*launches, describe_launch_json(launch, &time, row));
   }
   if (weight > 0)
      *occupancy /= weight;
   return true;
}

static int emit(const struct model *me, rkb_job_t job, const char *name, double value, const char *unit,
                const char *better, const char *case_name, const char *detail) {
   return rkb_emit_measurement(
      me->host, job,
      &(rkb_measurement_t){.name = name,
                           .value = value,
                           .unit = unit,
                           .better = better,
                           .method = "model: roofline with latency over sampled blocks",
                           .spread = -1,
                           .case_name = case_name,
                           .detail = detail});
}

static int emit_least(const struct model *me, rkb_job_t job, double seconds) {
   return rkb_emit_measurement(me->host, job,
                               &(rkb_measurement_t){.name = "least_us",
                                                    .value = seconds * 1e6,
                                                    .unit = "us",
                                                    .better = "",
                                                    .method = "arithmetic: the task's bytes and operations at the target's peak rates",
                                                    .spread = -1});
}

static int emit_case(const struct model *me, rkb_job_t job, const rkb_case_t *bench, const json_t *time) {
   json_t *object = json_pack("{s:O}", "launches", json_object_get(time, "launches"));
   char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(6)) : NULL;
   int status = emit(me, job, "predicted_us", json_real_value(json_object_get(time, "seconds")) * 1e6, "us",
                     "lower", bench->name, text);
   free(text);
   json_decref(object);
   return status;
}

static uint32_t largest_of(const double limited[LIMIT_COUNT]) {
   uint32_t largest = 0;
   for (uint32_t i = 1; i < LIMIT_COUNT; i++)
      if (limited[i] > limited[largest])
         largest = i;
   return largest;
}

static int model_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct model *me = self;
   rkb_build_t *build = NULL;
   rkb_finding_t finding = {0};
   size_t bytes = 0;
   double log_sum = 0, least_log_sum = 0, occupancy_sum = 0, limited[LIMIT_COUNT] = {0};
   uint32_t predicted = 0, launches_total = 0, index = 0;
   const rkb_case_t *bench = NULL;
   json_t *times = NULL; /* of the cases so far, {seconds, launches} each */

   const rkb_counters_t *counters = me->kernel->note_get(me->host, job, RKB_NOTE_COUNTERS, &bytes);
   if (!counters || bytes < sizeof *counters || counters->size < sizeof *counters || counters->size % 8 ||
       counters->launch_size % 8 ||
       bytes < counters->size + (size_t)counters->launch_count * counters->launch_size) {
      rkb_warn(me->host, "no counts from the machine for this candidate: nothing predicted");
      return RKB_OK;
   }
   int status = me->kernel->build(me->host, job, in, me->early ? RKB_BUILD_BENCH : 0, &build, &finding, err);
   if (status != RKB_OK || (!build && me->early)) /* the build step says why it does not build */
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   times = json_array();
   while (status == RKB_OK && (bench = me->task->case_at(me->host, RKB_CASE_BENCH, index)) != NULL) {
      rkb_plan_t *plan = NULL;
      json_t *launches = NULL;
      double seconds = 0, occupancy = 0;
      bounded_grids_t grids = {.count = 0};
      status = me->kernel->plan(me->host, job, in, build, bench, &plan, &finding, err);
      if (status == RKB_OK && plan && RKB_HAS(me->kernel, plan_decisions))
         status = me->kernel->plan_decisions(me->host, job, in, build, bench, block_turns_note, &grids, err);
      if (status == RKB_OK && plan &&
          predict_case(me, build, plan, &grids, counters, index, &seconds, &occupancy, limited, &launches)) {
         if (json_array_append_new(times, json_pack("{s:f,s:O}", "seconds", seconds, "launches", launches)) !=
             0)
            status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the predicted times");
         log_sum += log(seconds);
         least_log_sum += RKB_HAS(me->task, least_seconds) ? log(me->task->least_seconds(me->host, bench)) : NAN;
         occupancy_sum += occupancy;
         launches_total += plan->launch_count;
         predicted++;
      }
      json_decref(launches);
      me->kernel->plan_free(plan);
      index++;
   }
   /* Nothing is told unless every bench case was predicted: an objective is a mean over the cases that were told, and means over different
    * cases cannot be compared. */
   if (status == RKB_OK && predicted > 0 && predicted == index) {
      for (uint32_t i = 0; status == RKB_OK && i < index; i++)
         status =
            emit_case(me, job, me->task->case_at(me->host, RKB_CASE_BENCH, i), json_array_get(times, i));
      if (status == RKB_OK)
         status = emit(me, job, "predicted_us", exp(log_sum / predicted) * 1e6, "us", "lower", NULL, NULL);
      if (status == RKB_OK &&
          prediction_keep(me->kernel, me->host, job, exp(log_sum / predicted) * 1e6) != RKB_OK)
         status = rkb_fail(err, RKB_ERR_NOMEM, "the predicted time could not be kept");
      if (status == RKB_OK && !isnan(least_log_sum))
         status = emit_least(me, job, exp(least_log_sum / predicted));
      if (status == RKB_OK)
         status = emit(me, job, "occupancy", occupancy_sum / predicted, "1", "higher", NULL, NULL);
      if (status == RKB_OK)
         status = emit(me, job, "launches", (double)launches_total / predicted, "1", "lower", NULL, NULL);
      if (status == RKB_OK)
         status = emit(me, job, "limiter", (double)largest_of(limited), "1", "", NULL, NULL);
   } else if (status == RKB_OK) {
      rkb_warn(me->host, "predicted %u of %u bench cases: no time is told", predicted, index);
   }
   json_decref(times);
   me->kernel->build_free(build);
   return status;
}

static void model_destroy(void *self) {
   free(self);
}

static const rkb_stage_t model = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.model",
   .summary = "Predicts the time on the target device from the machine's counts.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"predicted_us", "least_us", "occupancy", "launches", "limiter", NULL},
   .create = model_create,
   .run = model_run,
   .destroy = model_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, NULL},
};

static const rkb_stage_t early_model = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.profiler.early_model",
   .summary =
      "As rkb.profiler.model, before the build: without the registers, so the predicted time is a lower bound of that stage's.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"predicted_us", "least_us", "occupancy", "launches", "limiter", NULL},
   .create = early_create,
   .run = model_run,
   .destroy = model_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "model",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&model, &early_model, NULL},
};
