/* The stage's measurements: of each case, cold and warm, with intervals, and their mean.  Runs on a worker. */
#include "measurements.h"

#include <jansson.h>
#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>

/* An improvement counts when the interval excludes 1 and the gain is at least this. */
#define LEAST_GAIN 0.005

static bool is_improvement(estimate_t ratio) {
   return ratio.high < 1 && ratio.value <= 1 - LEAST_GAIN;
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

int measure_case(const struct timer *me, rkb_job_t job, const char *case_name, const struct timing *timing,
                 const char *state, struct account *account) {
   int status = emit(me, job, "us", timing->cold, case_name, timing, state);
   if (status == RKB_OK)
      status = emit(me, job, "warm_us", timing->warm, case_name, timing, state);
   account->log_cold += log(timing->cold.value * 1e3);
   account->log_ratio += isfinite(timing->ratio.value) ? log(timing->ratio.value) : 0;
   account->every_case_holds &= !isfinite(timing->ratio.low) || timing->ratio.low <= 1;
   account->timed++;
   return status;
}

int measure_whole(const struct timer *me, rkb_job_t job, const rkb_build_t *build,
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
      incumbent_replace(me->holder, rival, me->kernel, build, subject->contenders[CANDIDATE].transform, plans,
                        account->cases);
      return status;
   }
   for (uint32_t i = 0; i < account->cases; i++)
      me->kernel->plan_free(plans[i]);
   free(plans);
   return status;
}
