/* rkb.profiler.time - measures a candidate on the GPU: cold (second-level cache emptied by reading) and warm, over several
 * arenas, fresh allocations and, in full mode, fresh processes.  docs/timing.md is the protocol.  A time whose outputs
 * were not right afterwards is not reported.  Blocks on workers; holds the device while it runs. */
#include <rkb/items.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "incumbent.h"
#include "restore.h"
#include "sitting.h"
#include "statistics.h"

/* Resolution of the driver's events, in milliseconds (CUDA driver API, cuEventElapsedTime). */
#define EVENT_RESOLUTION_MS 0.0005
#define ALPHA 0.01

/* An improvement is sure and worth having: the interval excludes 1, and the gain is at least this. */
#define LEAST_GAIN 0.005
/* Sittings may differ by this much in what the worker's own fixed kernel takes. */
#define MOST_DRIFT 0.01

enum { MOST_SITTINGS = 6, MOST_CASES = 64 };

static bool is_improvement(estimate_t ratio) {
   return ratio.high < 1 && ratio.value <= 1 - LEAST_GAIN;
}

static int time_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct timer *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (struct timer){host,
                        config,
                        host->get_extension(host, RKB_EXT_TASK),
                        host->get_extension(host, RKB_EXT_KERNEL),
                        host->get_extension(host, RKB_EXT_DEVICE),
                        host->get_extension(host, RKB_EXT_RANDOM),
                        host->get_extension(host, RKB_EXT_WORKERS),
                        NULL,
                        NULL};
   if (!me->task || !me->kernel || !me->random || !me->workers || !me->device) {
      bool no_device = !me->device;
      free(me);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE,
                      no_device ? "no usable GPU on this machine (rkb doctor says why); leave this stage out"
                                : "this host offers no extension for kernels");
   }
   me->throne = throne_new();
   if (!me->throne) {
      free(me);
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   me->store = store_open(host, me->task);
   *self = me;
   return RKB_OK;
}

/* Times of one case over all its sittings. */
struct timing {
   estimate_t cold, warm; /* milliseconds */
   estimate_t ratio;      /* of the candidate's cold time to the incumbent's; NaN without one */
   size_t samples, sittings, discarded;
   estimate_t copy;                         /* the tuned copy's; NaN without one */
   double floor, copy_anchor, chain_anchor; /* milliseconds */
   bool right;
   char wrong[256];
};

/* All sittings' samples of one contender, in clusters. */
static samples_t gather(const struct sitting *sittings, size_t count, uint32_t contender, bool warm,
                        double *times, size_t *counts) {
   size_t at = 0;
   for (size_t i = 0; i < count; i++) {
      counts[i] = sittings[i].count;
      memcpy(times + at, warm ? sittings[i].warm[contender] : sittings[i].cold[contender],
             counts[i] * sizeof *times);
      at += counts[i];
   }
   return (samples_t){times, counts, count};
}

static int estimate(const struct sitting *sittings, size_t count, bool rival, struct timing *timing,
                    rkb_error_t *err) {
   size_t counts[2][MOST_SITTINGS], total = 0;
   timing->ratio = (estimate_t){NAN, NAN, NAN};
   for (size_t i = 0; i < count; i++)
      total += sittings[i].count;
   double *times = malloc((2 * total + 1) * sizeof *times);
   if (!times)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   samples_t own = gather(sittings, count, CANDIDATE, true, times, counts[0]);
   timing->warm = bootstrap_mean(&own, ALPHA, EVENT_RESOLUTION_MS, 2);
   own = gather(sittings, count, CANDIDATE, false, times, counts[0]);
   timing->cold = bootstrap_mean(&own, ALPHA, EVENT_RESOLUTION_MS, 1);
   if (rival) {
      samples_t other = gather(sittings, count, INCUMBENT, false, times + total, counts[1]);
      timing->ratio = bootstrap_ratio(&own, &other, ALPHA, EVENT_RESOLUTION_MS, 3);
   }
   timing->samples = total;
   size_t copied = 0;
   for (size_t i = 0; i < count; i++) {
      counts[0][i] = sittings[i].copy_count;
      if (copied + counts[0][i] <= 2 * total && counts[0][i])
         memcpy(times + copied, sittings[i].copies, counts[0][i] * sizeof *times);
      copied += counts[0][i];
   }
   timing->copy = copied <= 2 * total
                     ? bootstrap_mean(&(samples_t){times, counts[0], count}, ALPHA, EVENT_RESOLUTION_MS, 4)
                     : (estimate_t){NAN, NAN, NAN};
   free(times);
   return RKB_OK;
}

/* Sittings in which the same work took another time were held under other conditions: moves them behind the others and
 * returns how many are left. */
static size_t discard(struct sitting *sittings, size_t count) {
   double copies[MOST_SITTINGS], chains[MOST_SITTINGS], copy, chain;
   size_t kept = 0;
   for (size_t i = 0; i < count; i++) {
      copies[i] = sittings[i].copy_anchor;
      chains[i] = sittings[i].chain_anchor;
   }
   copy = trimmed_mean(copies, count);
   chain = trimmed_mean(chains, count);
   for (size_t i = 0; i < count; i++)
      if (fabs(sittings[i].copy_anchor - copy) <= MOST_DRIFT * copy + EVENT_RESOLUTION_MS / 2 &&
          fabs(sittings[i].chain_anchor - chain) <= MOST_DRIFT * chain + EVENT_RESOLUTION_MS / 2) {
         struct sitting swap = sittings[kept];
         sittings[kept++] = sittings[i];
         sittings[i] = swap;
      }
   return kept;
}

/* Quick: one sitting.  Full: three allocations in each of two processes. */
static int time_case(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                     struct timing *timing, rkb_error_t *err) {
   bool full = full_mode(me);
   size_t processes = full ? 2 : 1, allocations = full ? 3 : 1, done = 0;
   struct sitting sittings[MOST_SITTINGS] = {{.right = true}};
   int status = RKB_OK;
   timing->right = true;
   for (size_t p = 0; p < processes && status == RKB_OK && timing->right; p++) {
      stopwatch_turn(subject->watch, PHASE_DEVICE);
      if (p > 0)
         status = me->device->restart(subject->session, err);
      if (status == RKB_OK)
         status = sitting_prepare(me, subject, err);
      for (size_t a = 0; a < allocations && status == RKB_OK && timing->right; a++) {
         status = sitting_run(me, subject, stream, &sittings[done], err);
         timing->right = sittings[done].right;
         memcpy(timing->wrong, sittings[done].wrong, sizeof timing->wrong);
         /* A fault or a hang of the timed runs is the candidate's doing, and cost the worker. */
         if (status == RKB_ERR_UNAVAILABLE) {
            timing->right = false;
            snprintf(timing->wrong, sizeof timing->wrong, "the timed runs ended the worker: %.200s",
                     err->message);
            status = me->device->restart(subject->session, err);
         }
         done++;
      }
      if (status == RKB_OK)
         status = sitting_clear(me, subject, err);
   }
   stopwatch_turn(subject->watch, PHASE_OTHER);
   if (status == RKB_OK && timing->right) {
      timing->sittings = discard(sittings, done);
      timing->discarded = done - timing->sittings;
      timing->floor = sittings[0].floor;
      timing->copy_anchor = sittings[0].copy_anchor;
      timing->chain_anchor = sittings[0].chain_anchor;
      if (2 * timing->sittings < done) {
         timing->right = false;
         snprintf(
            timing->wrong, sizeof timing->wrong,
            "the device's speed changed between sittings: fewer than half of them agree on the anchors");
      } else {
         status = estimate(sittings, timing->sittings, subject->contender_count > 1, timing, err);
      }
   }
   for (size_t i = 0; i < done; i++)
      sitting_free(&sittings[i]);
   return status;
}

static int emit(const struct timer *me, rkb_job_t job, const char *name, estimate_t ms, const char *case_name,
                const struct timing *t, const char *state) {
   char method[192];
   json_t *detail = json_pack("{s:f, s:f, s:I, s:I, s:I, s:f, s:f, s:f, s:s, s:s}", "low_us", ms.low * 1e3,
                              "high_us", ms.high * 1e3, "samples", (json_int_t)t->samples, "sittings",
                              (json_int_t)t->sittings, "discarded", (json_int_t)t->discarded, "floor_us",
                              t->floor * 1e3, "copy_anchor_us", t->copy_anchor * 1e3, "chain_anchor_us",
                              t->chain_anchor * 1e3, "state", state, "mode", me->config->mode);
   if (detail && isfinite(t->ratio.value))
      json_object_set_new(detail, "to_incumbent",
                          json_pack("{s:f, s:f, s:f, s:b}", "ratio", t->ratio.value, "low", t->ratio.low,
                                    "high", t->ratio.high, "improves", is_improvement(t->ratio)));
   if (detail && isfinite(t->copy.value))
      json_object_set_new(detail, "copy",
                          json_pack("{s:f, s:f, s:f}", "us", t->copy.value * 1e3, "low_us", t->copy.low * 1e3,
                                    "high_us", t->copy.high * 1e3));
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   snprintf(
      method, sizeof method,
      "measured (%s): %zu samples in %zu sittings, 20 %% trimmed mean, 99 %% interval by cluster bootstrap%s",
      me->config->mode, t->samples, t->sittings,
      isfinite(t->ratio.value) ? ", in turns with the incumbent" : "");
   int status = rkb_emit_measurement(me->host, job,
                                     &(rkb_measurement_t){.name = name,
                                                          .value = ms.value * 1e3,
                                                          .unit = "us",
                                                          .better = "lower",
                                                          .method = method,
                                                          .spread = (ms.high - ms.low) / 2 * 1e3,
                                                          .case_name = case_name,
                                                          .detail = text});
   free(text);
   json_decref(detail);
   return status;
}

/* Two sets of values under different seeds, from the pool where there is one. */
static int draw_values(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                       rkb_error_t *err) {
   enum { POOL = 4 };
   const uint64_t pool = sample_pool(subject->the_case, POOL), first = me->random->below(stream, pool);
   int status = RKB_OK;
   subject->family = me->task->family_at(me->host, subject->the_case, 0);
   for (uint32_t set = 0; set < SETS && status == RKB_OK; set++) {
      subject->seeds[set] = me->store ? store_seed(me->store, subject->the_case->name, (first + set) % pool)
                                      : me->random->next(stream) >> 1;
      status = me->task->inputs_open(me->host, subject->the_case, subject->family, subject->seeds[set],
                                     &subject->inputs[set], err);
      subject->samples[set] = calloc(subject->the_case->tensor_count + 1, sizeof *subject->samples[set]);
      if (status == RKB_OK &&
          (!subject->samples[set] || !sums_open(subject->the_case->tensor_count, &subject->sums[set])))
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      if (status == RKB_OK)
         me->task->inputs_limit(subject->inputs[set], RUN_MOST_WORK);
   }
   return status;
}

static void free_values(const struct timer *me, struct subject *subject) {
   for (uint32_t set = 0; set < SETS; set++) {
      for (uint32_t t = 0; subject->samples[set] && t < subject->the_case->tensor_count; t++)
         sample_close(&subject->samples[set][t]);
      free(subject->samples[set]);
      subject->samples[set] = NULL;
      if (subject->inputs[set])
         me->task->inputs_free(subject->inputs[set]);
      subject->inputs[set] = NULL;
      sums_close(&subject->sums[set]);
   }
   subject->expected = false;
}

/* What is known after all cases. */
struct account {
   double log_cold, log_ratio;
   uint32_t timed, cases;
   bool every_case_holds; /* no case is surely slower than the incumbent's */
};

static int time_one(const struct timer *me, rkb_job_t job, struct subject *subject, rkb_random_t *stream,
                    struct account *account, rkb_error_t *err) {
   struct timing timing = {0};
   char state[512] = "";
   int status = draw_values(me, subject, stream, err);
   if (status == RKB_OK)
      status = time_case(me, subject, stream, &timing, err);
   if (status == RKB_OK && !timing.right) {
      rkb_warn(me->host, "case %s: no time reported: %s", subject->the_case->name, timing.wrong);
   } else if (status == RKB_OK) {
      status = me->device->state(subject->session, state, sizeof state, err);
      if (status == RKB_OK)
         status = emit(me, job, "us", timing.cold, subject->the_case->name, &timing, state);
      if (status == RKB_OK)
         status = emit(me, job, "warm_us", timing.warm, subject->the_case->name, &timing, state);
      account->log_cold += log(timing.cold.value * 1e3);
      account->log_ratio += isfinite(timing.ratio.value) ? log(timing.ratio.value) : 0;
      account->every_case_holds &= !isfinite(timing.ratio.low) || timing.ratio.low <= 1;
      account->timed++;
   }
   free_values(me, subject);
   return status;
}

/* Every bench case; plans collects one a case. */
static int time_cases(const struct timer *me, rkb_job_t job, const rkb_item_t *in, const rkb_build_t *build,
                      const incumbent_t *rival, struct subject *subject, rkb_plan_t **plans,
                      struct account *account, rkb_error_t *err) {
   rkb_random_t stream = me->random->for_job(me->host, job, 0);
   int status = RKB_OK;
   while (status == RKB_OK && account->cases < MOST_CASES &&
          (subject->the_case = me->task->case_at(me->host, RKB_CASE_BENCH, account->cases)) != NULL) {
      uint32_t index = account->cases++;
      rkb_finding_t finding = {0};
      stopwatch_turn(subject->watch, PHASE_PLAN);
      status = me->kernel->plan(me->host, job, in, build, subject->the_case, &plans[index], &finding, err);
      subject->contenders[CANDIDATE].plan = plans[index];
      subject->contender_count = rival && index < rival->plan_count ? 2 : 1;
      if (subject->contender_count > 1)
         subject->contenders[INCUMBENT] =
            (struct contender){rival->cubin, rival->cubin_bytes, rival->plans[index], rival->transform};
      if (status == RKB_OK && plans[index])
         status = time_one(me, job, subject, &stream, account, err);
   }
   return status;
}

/* Emits the mean over the cases and, when the candidate is faster beyond doubt, makes it the incumbent. */
static int conclude(const struct timer *me, rkb_job_t job, const rkb_build_t *build,
                    const struct subject *subject, const incumbent_t *rival, rkb_plan_t **plans,
                    const struct account *account) {
   json_t *detail = json_pack("{s:o}", "ms", stopwatch_json(subject->watch));
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   bool whole = account->timed > 0 && account->timed == account->cases;
   double ratio = whole ? exp(account->log_ratio / account->timed) : NAN;
   int status = RKB_OK;
   if (whole)
      status = rkb_emit_measurement(
         me->host, job,
         &(rkb_measurement_t){.name = "us",
                              .value = exp(account->log_cold / account->timed),
                              .unit = "us",
                              .better = "lower",
                              .method = "measured: geometric mean over the bench cases, cold",
                              .spread = -1,
                              .detail = text});
   free(text);
   json_decref(detail);
   if (whole && rival && status == RKB_OK)
      status = rkb_emit_measurement(
         me->host, job,
         &(rkb_measurement_t){
            .name = "to_incumbent",
            .value = ratio,
            .unit = "1",
            .better = "lower",
            .method =
               "measured: geometric mean over the bench cases of the ratio to the incumbent, timed in turns",
            .spread = -1});
   if (whole && (!rival || (ratio <= 1 - LEAST_GAIN && account->every_case_holds))) {
      throne_take(me->throne, rival, me->kernel, build, subject->contenders[CANDIDATE].transform, plans,
                  account->cases);
      return status;
   }
   for (uint32_t i = 0; i < account->cases; i++)
      me->kernel->plan_free(plans[i]);
   free(plans);
   return status;
}

static int time_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct timer *me = self;
   rkb_build_t *build = NULL;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   stopwatch_t watch;
   struct subject subject = {.watch = &watch};
   struct account account = {.every_case_holds = true};
   stopwatch_start(&watch);
   int status = me->kernel->build(me->host, job, in, 0, &build, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!build)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   rkb_plan_t **plans = calloc(MOST_CASES, sizeof *plans);
   status = incumbent_restore(me, job, err);
   incumbent_t *rival = throne_hold(me->throne);
   if (status == RKB_OK)
      status = plans ? me->kernel->manifest(me->host, me->host->item_text(me->host, in, "source"), &manifest,
                                            &finding, err)
                     : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   bool transform = manifest && manifest->transform;
   subject.contenders[CANDIDATE] =
      (struct contender){.cubin = build->cubin, .cubin_bytes = build->cubin_bytes, .transform = transform};
   stopwatch_turn(&watch, PHASE_DEVICE);
   if (status == RKB_OK)
      status = me->device->begin(me->host, job, &subject.session, err);
   if (status == RKB_OK) {
      status = time_cases(me, job, in, build, rival, &subject, plans, &account, err);
      stopwatch_turn(&watch, PHASE_CLOSE);
      me->device->end(subject.session);
   }
   stopwatch_turn(&watch, PHASE_OTHER);
   if (status == RKB_OK) {
      status = conclude(me, job, build, &subject, rival, plans, &account);
   } else {
      for (uint32_t i = 0; plans && i < account.cases; i++)
         me->kernel->plan_free(plans[i]);
      free(plans);
   }
   incumbent_release(me->throne, rival);
   if (manifest)
      me->kernel->manifest_free(manifest);
   me->kernel->build_free(build);
   return status;
}

static void time_destroy(void *self) {
   struct timer *me = self;
   throne_free(me->throne);
   store_close(me->store);
   free(me);
}

static const char *const modes[] = {"quick", "full", NULL};

static const rkb_option_t options[] = {
   {.name = "mode",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(struct time_config, mode),
    .fallback = "quick",
    .choices = modes,
    .help =
       "quick: one sitting, for the gate inside a search; full: six sittings in two processes, for what is published."},
   {.name = "arenas",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, arenas),
    .fallback = "8",
    .min = 2,
    .max = 32,
    .help = "Copies of the plan with buffers of their own."},
   {.name = "rounds",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, rounds),
    .fallback = "6",
    .min = 2,
    .max = 1000,
    .help = "Timed runs of each arena in a sitting, the first of which is not counted."},
   {.name = "points",
    .type = RKB_OPT_INT,
    .offset = offsetof(struct time_config, points),
    .fallback = "1024",
    .min = 1,
    .max = 65536,
    .help =
       "Output elements of each arena checked after the timed runs; as many as the GPU verifier compares cost nothing more."},
   {.name = "budget",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct time_config, budget),
    .fallback = "1s",
    .help = "Time to evaluate the reference for one output; fewer elements are checked when it ends."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(struct time_config, deadline),
    .fallback = "5s",
    .help = "Time one run may take before it counts as hanging."},
};

static const rkb_stage_t time_stage = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.time",
   .summary = "Measures the candidate on the GPU, cold and warm, with an interval.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"us", "warm_us", "to_incumbent", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct time_config),
   .create = time_create,
   .run = time_run,
   .destroy = time_destroy,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "time",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&time_stage, NULL},
};
