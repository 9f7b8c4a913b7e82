/* rkb.profiler.cupti - reads the hardware's counters of every launch of a candidate, in the worker that holds the device.  Where the driver
 * shows no counters, it takes the driver's record of each launch and the compiler's figures, and says so.  Blocks on workers; holds the
 * device while it runs. */
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "shared/launch_report.h"
#include "shared/profiled_plan.h"

#define METHOD "measured: CUPTI's range profiler, one cold run of each launch, repeated until every counter was read"

enum { MOST_CASES = 64 };

typedef struct cupti_config {
   const char *mode;
   int64_t cases;
   uint64_t deadline;
} cupti_config_t;

/* What one job holds. */
typedef struct observing {
   const profiler_t *me;
   const cupti_config_t *config;
   rkb_job_t job;
   launch_totals_t totals;
   bool refused;  /* counters were refused, so they are not asked for again */
   char why[240]; /* why there are no counters, or no activity */
} observing_t;

static int cupti_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return profiler_new(host, config, sizeof(profiler_t), self, err);
}

/* Reads every value that was asked for, or seen->observed says why not. */
static int ask(const observing_t *o, const profiled_plan_t *plan, const char *const *names, uint32_t count, rkb_observation_t *seen,
               double **values, rkb_error_t *err) {
   const uint32_t width = count ? count : RKB_ACTIVITY_COUNT, deadline_ms = (uint32_t)(o->config->deadline / 1000000);
   *values = calloc((size_t)plan->plan->launch_count * width + 1, sizeof **values);
   if (!*values)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   return o->me->device->observe(plan->session, 0, 0, names, count, deadline_ms, seen, *values, err);
}

static int visit_activity(observing_t *o, const profiled_plan_t *plan, rkb_error_t *err) {
   rkb_observation_t seen = {0};
   double *values = NULL;
   int status = ask(o, plan, NULL, 0, &seen, &values, err);
   if (status == RKB_OK && seen.observed == RKB_OBSERVED)
      status = report_activity(o->me, o->job, plan, values, o->why, &o->totals);
   else if (status == RKB_OK)
      rkb_warn(o->me->host, "case %s: neither counters (%s) nor activity: %s", plan->the_case->name, o->why, seen.message);
   free(values);
   return status;
}

static int visit(void *context, const profiled_plan_t *plan, rkb_error_t *err) {
   observing_t *o = context;
   rkb_observation_t seen = {0};
   double *values = NULL;
   if (o->refused)
      return visit_activity(o, plan, err);
   int status = ask(o, plan, COUNTER_NAMES, COUNTER_COUNT, &seen, &values, err);
   if (status == RKB_OK && seen.observed == RKB_OBSERVED)
      status = report_counted(o->me, o->job, plan, values, METHOD, &o->totals);
   free(values);
   if (status != RKB_OK || seen.observed == RKB_OBSERVED)
      return status;
   o->refused = true;
   memcpy(o->why, seen.message, sizeof o->why);
   rkb_warn(o->me->host, "no counters, so activity records and the compiler's figures: %s", seen.message);
   return visit_activity(o, plan, err);
}

static int cupti_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const profiler_t *me = self;
   observing_t observing = {.me = me, .config = me->config, .job = job};
   rkb_build_t *build = NULL;
   rkb_session_t *session = NULL;
   uint32_t visited = 0;
   if (strcmp(observing.config->mode, "activity") == 0) {
      observing.refused = true;
      snprintf(observing.why, sizeof observing.why, "the pipeline asks for activity alone");
   }
   int status = profiler_build(me, job, in, &build, err);
   if (status == RKB_OK)
      status = me->device->begin(me->host, job, &session, err);
   if (status == RKB_OK)
      status = profile_cases(me,
                             &(profiled_cases_t){.job = job,
                                                 .in = in,
                                                 .build = build,
                                                 .session = session,
                                                 .kind = RKB_CASE_BENCH,
                                                 .most = (uint32_t)observing.config->cases},
                             visit, &observing, &visited, err);
   me->device->end(session);
   if (status == RKB_OK)
      status = report_totals(me, job, &observing.totals, visited, observing.refused ? "activity records of one cold run" : METHOD);
   me->kernel->build_free(build);
   return status;
}

static const char *const modes[] = {"counters", "activity", NULL};

static const rkb_option_t options[] = {
   {.name = "mode",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(cupti_config_t, mode),
    .fallback = "counters",
    .choices = modes,
    .help = "counters: the hardware's, and activity where they are refused; activity: the driver's record of each launch alone."},
   {.name = "cases",
    .type = RKB_OPT_INT,
    .offset = offsetof(cupti_config_t, cases),
    .fallback = "64",
    .min = 1,
    .max = MOST_CASES,
    .help = "At most so many bench cases, from the first."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(cupti_config_t, deadline),
    .fallback = "5s",
    .help = "How long one run may take before it counts as hanging."},
};

static const rkb_stage_t cupti = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.cupti",
   .summary = "Reads the hardware's counters of each launch, or its activity where counters are refused.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"kernel_us", "memory_share", "tensor_share", "occupancy", "limiter", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(cupti_config_t),
   .create = cupti_create,
   .run = cupti_run,
   .destroy = profiler_free,
   .needs = PROFILER_NEEDS,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "cupti",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&cupti, NULL},
};
