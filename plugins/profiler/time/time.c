/* rkb.profiler.time - measures a candidate on the GPU: cold (second-level cache emptied by reading) and warm, over several
 * arenas, fresh allocations and, in full mode, fresh processes.  docs/timing.md is the protocol.  A time whose outputs
 * were not right afterwards is not reported.  Blocks on workers; holds the device while it runs. */
#include <rkb/items.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "sitting.h"
#include "statistics.h"

/* Resolution of the driver's events, in milliseconds (CUDA driver API, cuEventElapsedTime). */
#define EVENT_RESOLUTION_MS 0.0005
#define ALPHA 0.01

enum { MOST_SITTINGS = 6 };

static int time_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct timer *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct timer){host, config, host->get_extension(host, RKB_EXT_TASK), host->get_extension(host, RKB_EXT_KERNEL),
                        host->get_extension(host, RKB_EXT_DEVICE), host->get_extension(host, RKB_EXT_RANDOM), NULL};
   if (!me->task || !me->kernel || !me->random || !me->device) {
      bool no_device = !me->device;
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, no_device ? "no usable GPU on this machine (rkb doctor says why); leave this stage out"
                                                          : "this host offers no extension for kernels");
   }
   me->store = store_open(host, me->task);
   *self = me;
   return RKB_OK;
}

/* Times of one case over all its sittings. */
struct timing {
   estimate_t cold, warm; /* milliseconds */
   size_t samples, sittings;
   bool right;
   char wrong[256];
};

static void estimate(const struct sitting *sittings, size_t count, bool warm, uint64_t seed, estimate_t *out) {
   size_t counts[MOST_SITTINGS], total = 0, at = 0;
   for (size_t i = 0; i < count; i++)
      total += counts[i] = sittings[i].count;
   double *times = malloc((total + 1) * sizeof *times);
   *out = (estimate_t){NAN, NAN, NAN};
   for (size_t i = 0; times && i < count; i++) {
      memcpy(times + at, warm ? sittings[i].warm : sittings[i].cold, counts[i] * sizeof *times);
      at += counts[i];
   }
   if (times)
      *out = bootstrap_mean(&(samples_t){times, counts, count}, ALPHA, EVENT_RESOLUTION_MS, seed);
   free(times);
}

/* Quick: one sitting.  Full: three allocations in each of two processes. */
static int time_case(const struct timer *me, struct subject *subject, rkb_random_t *stream, struct timing *timing, rkb_error_t *err) {
   bool full = strcmp(me->config->mode, "full") == 0;
   size_t processes = full ? 2 : 1, allocations = full ? 3 : 1, done = 0;
   struct sitting sittings[MOST_SITTINGS] = {{0}};
   int status = RKB_OK;
   timing->right = true;
   for (size_t p = 0; p < processes && status == RKB_OK && timing->right; p++) {
      if (full)
         status = me->device->restart(subject->session, err);
      if (status == RKB_OK)
         status = sitting_prepare(me, subject, err);
      for (size_t a = 0; a < allocations && status == RKB_OK && timing->right; a++) {
         status = sitting_run(me, subject, stream, &sittings[done], err);
         timing->right = sittings[done].outputs_right;
         memcpy(timing->wrong, sittings[done].wrong, sizeof timing->wrong);
         timing->samples += sittings[done].count;
         done++;
      }
      if (status == RKB_OK)
         status = sitting_clear(me, subject, err);
   }
   timing->sittings = done;
   if (status == RKB_OK && timing->right) {
      estimate(sittings, done, false, 1, &timing->cold);
      estimate(sittings, done, true, 2, &timing->warm);
   }
   for (size_t i = 0; i < done; i++)
      sitting_free(&sittings[i]);
   return status;
}

static int emit(const struct timer *me, rkb_job_t job, const char *name, estimate_t ms, const char *case_name, const struct timing *t,
                const char *state) {
   char method[160];
   json_t *detail = json_pack("{s:f, s:f, s:I, s:I, s:s, s:s}", "low_us", ms.low * 1e3, "high_us", ms.high * 1e3, "samples",
                              (json_int_t)t->samples, "sittings", (json_int_t)t->sittings, "state", state, "mode", me->config->mode);
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   snprintf(method, sizeof method, "measured (%s): %zu samples in %zu sittings, 20 %% trimmed mean, 99 %% interval by cluster bootstrap",
            me->config->mode, t->samples, t->sittings);
   int status = rkb_emit_measurement(me->host, job, &(rkb_measurement_t){.name = name, .value = ms.value * 1e3, .unit = "us",
                                     .better = "lower", .method = method, .spread = (ms.high - ms.low) / 2 * 1e3,
                                     .case_name = case_name, .detail = text});
   free(text);
   json_decref(detail);
   return status;
}

/* Two sets of values under different seeds, from the pool where there is one. */
static int draw_values(const struct timer *me, struct subject *subject, rkb_random_t *stream, rkb_error_t *err) {
   enum { POOL = 4 };
   uint64_t first = me->random->below(stream, POOL);
   int status = RKB_OK;
   subject->family = me->task->family_at(me->host, subject->the_case, 0);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++) {
      subject->seeds[set] = me->store ? store_seed(me->store, subject->the_case->name, (first + set) % POOL) : me->random->next(stream) >> 1;
      status = me->task->inputs_open(me->host, subject->the_case, subject->family, subject->seeds[set], &subject->inputs[set], err);
      if (status == RKB_OK)
         me->task->inputs_limit(subject->inputs[set], RUN_MOST_WORK);
   }
   return status;
}

static int time_cases(const struct timer *me, rkb_job_t job, const rkb_item_t *in, struct subject *subject, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   double log_cold = 0;
   uint32_t timed = 0, index = 0;
   int status = RKB_OK;
   for (; status == RKB_OK && (subject->the_case = me->task->case_at(me->host, RKB_CASE_BENCH, index)) != NULL; index++) {
      rkb_plan_t *plan = NULL;
      rkb_finding_t finding = {0};
      struct timing timing = {0};
      char state[512] = "";
      status = me->kernel->plan(me->host, job, in, subject->build, subject->the_case, &plan, &finding, err);
      subject->plan = plan;
      if (status == RKB_OK)
         status = draw_values(me, subject, &stream, err);
      if (status == RKB_OK && plan)
         status = time_case(me, subject, &stream, &timing, err);
      if (status == RKB_OK && plan && timing.right)
         status = me->device->state(subject->session, state, sizeof state, err);
      if (status == RKB_OK && plan && timing.right) {
         status = emit(me, job, "us", timing.cold, subject->the_case->name, &timing, state);
         if (status == RKB_OK)
            status = emit(me, job, "warm_us", timing.warm, subject->the_case->name, &timing, state);
         log_cold += log(timing.cold.value * 1e3);
         timed++;
      } else if (status == RKB_OK && plan) {
         rkb_warn(me->host, "case %s: no time reported: %s", subject->the_case->name, timing.wrong);
      }
      for (uint32_t set = 0; set < SETS; set++) {
         me->task->inputs_free(subject->inputs[set]);
         subject->inputs[set] = NULL;
      }
      me->kernel->plan_free(plan);
   }
   if (status == RKB_OK && timed > 0 && timed == index)
      status = rkb_emit_measurement(me->host, job, &(rkb_measurement_t){.name = "us", .value = exp(log_cold / timed), .unit = "us",
                                    .better = "lower", .method = "measured: geometric mean over the bench cases, cold", .spread = -1});
   return status;
}

static int time_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct timer *me = self;
   rkb_build_t *build = NULL;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   struct subject subject = {0};
   int status = me->kernel->build(me->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   status = me->kernel->manifest(me->host, me->host->item_text(me->host, in, "source"), &manifest, &finding, err);
   subject.build = build;
   subject.transform = manifest && manifest->transform;
   if (status == RKB_OK)
      status = me->device->begin(me->host, job, &subject.session, err);
   if (status == RKB_OK) {
      status = time_cases(me, job, in, &subject, err);
      me->device->end(subject.session);
   }
   if (manifest)
      me->kernel->manifest_free(manifest);
   me->kernel->build_free(build);
   return status;
}

static void time_destroy(void *self) {
   struct timer *me = self;
   store_close(me->store);
   free(me);
}

static const char *const modes[] = {"quick", "full", NULL};

static const rkb_option_t options[] = {
   {.name = "mode", .type = RKB_OPT_ENUM, .offset = offsetof(struct time_config, mode), .fallback = "quick", .choices = modes,
    .help = "quick: one sitting, for the gate inside a search; full: six sittings in two processes, for what is published."},
   {.name = "arenas", .type = RKB_OPT_INT, .offset = offsetof(struct time_config, arenas), .fallback = "8", .min = 2, .max = 32,
    .help = "Copies of the plan with buffers of their own."},
   {.name = "rounds", .type = RKB_OPT_INT, .offset = offsetof(struct time_config, rounds), .fallback = "6", .min = 2, .max = 1000,
    .help = "Timed runs of each arena in a sitting, the first of which is not counted."},
   {.name = "points", .type = RKB_OPT_INT, .offset = offsetof(struct time_config, points), .fallback = "64", .min = 1, .max = 65536,
    .help = "Output elements of each arena checked after the timed runs."},
   {.name = "budget", .type = RKB_OPT_DURATION, .offset = offsetof(struct time_config, budget), .fallback = "1s",
    .help = "Time to evaluate the reference for one output; fewer elements are checked when it ends."},
   {.name = "deadline", .type = RKB_OPT_DURATION, .offset = offsetof(struct time_config, deadline), .fallback = "5s",
    .help = "Time one run may take before it counts as hanging."},
};

static const rkb_stage_t time_stage = {
   .size = sizeof(rkb_stage_t), .kind = RKB_PROFILER, .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.time", .summary = "Measures the candidate on the GPU, cold and warm, with an interval.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL}, .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"us", "warm_us", NULL},
   RKB_OPTIONS(options), .config_size = sizeof(struct time_config),
   .create = time_create, .run = time_run, .destroy = time_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD, .name = "time", .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&time_stage, NULL},
};
