/* rkb.profiler.energy - the energy that one run of a candidate takes, by NVML's counter, with an interval.  Runs a plan back to back in the
 * worker while the counter moves.  A plan that works in place gets its inputs copied in before every run, and what the copying alone takes
 * is subtracted.  Blocks on workers; holds the device while it runs. */
#include <jansson.h>
#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>
#include "energy_interval.h"
#include "shared/profiled_plan.h"

enum { MOST_CASES = 64, MOST_ROUNDS = 64 };

typedef struct energy_config {
   int64_t rounds, cases;
   uint64_t round, deadline;
} energy_config_t;

typedef struct spending {
   const profiler_t *me;
   const energy_config_t *config;
   rkb_job_t job;
   double log_joules, log_watts;
   double squares; /* sum over cases: squares of relative half intervals */
   uint32_t cases;
} spending_t;

static int energy_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return profiler_new(host, config, sizeof(profiler_t), self, err);
}

static bool works_in_place(const rkb_plan_t *plan) {
   for (uint32_t i = 0; i < plan->buffer_count; i++)
      if (plan->buffers[i].role == RKB_INOUT)
         return true;
   return false;
}

static int spend(const spending_t *s, const profiled_plan_t *plan, bool prepare, bool run, bool *counted, energy_estimate_t *out,
                 rkb_error_t *err) {
   const energy_config_t *config = s->config;
   const rkb_energy_rounds_t rounds = {.prepare = prepare,
                                       .run = run,
                                       .rounds = (uint32_t)config->rounds,
                                       .least_ms = (uint32_t)(config->round / 1000000),
                                       .deadline_ms = (uint32_t)(config->deadline / 1000000)};
   rkb_energy_spent_t spent[MOST_ROUNDS];
   int status = s->me->device->energy(plan->session, 0, 0, &rounds, spent, counted, err);
   if (status == RKB_OK && *counted)
      *out = energy_of(spent, rounds.rounds);
   return status;
}

static int emit(const spending_t *s, const char *name, double value, const char *unit, double spread, const char *case_name,
                const char *method, json_t *detail) {
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(6)) : NULL;
   int status = rkb_emit_measurement(s->me->host, s->job,
                                     &(rkb_measurement_t){.name = name,
                                                          .value = value,
                                                          .unit = unit,
                                                          .better = "lower",
                                                          .method = method,
                                                          .spread = spread,
                                                          .case_name = case_name,
                                                          .detail = text});
   free(text);
   json_decref(detail);
   return status;
}

static int emit_case(spending_t *s, const profiled_plan_t *plan, const energy_estimate_t *all, const energy_estimate_t *copies) {
   const double joules = all->joules - copies->joules, half = copies->joules > 0 ? hypot(all->half, copies->half) : all->half;
   if (!(joules > 0)) {
      rkb_warn(s->me->host, "case %s: the copies of its inputs take as much energy as the kernel; longer rounds may tell them apart",
               plan->the_case->name);
      return RKB_OK;
   }
   s->log_joules += log(joules);
   s->log_watts += log(all->watts);
   s->squares += isfinite(half) ? half / joules * (half / joules) : 0;
   s->cases++;
   int status = emit(s, "joules", joules, "J", isfinite(half) ? half : -1, plan->the_case->name,
                     copies->joules > 0 ? "measured: NVML's energy counter, runs back to back and warm; copies of the inputs subtracted; "
                                          "95 % interval over rounds"
                                        : "measured: NVML's energy counter, runs back to back and warm; 95 % interval over rounds",
                     json_pack("{s:f, s:f, s:f, s:I}", "watts", all->watts, "us_a_run", all->seconds * 1e6, "joules_of_copies",
                               copies->joules, "rounds", (json_int_t)s->config->rounds));
   return status == RKB_OK ? emit(s, "watts", all->watts, "W", -1, plan->the_case->name,
                                  "measured: NVML's energy counter over the time of the same runs", NULL)
                           : status;
}

static int visit(void *context, const profiled_plan_t *plan, rkb_error_t *err) {
   spending_t *s = context;
   energy_estimate_t all = {0}, copies = {0};
   bool counted = false;
   const bool in_place = works_in_place(plan->plan);
   int status = spend(s, plan, in_place, true, &counted, &all, err);
   if (status == RKB_OK && counted && in_place)
      status = spend(s, plan, true, false, &counted, &copies, err);
   if (status != RKB_OK)
      return status;
   if (!counted) {
      rkb_warn(s->me->host, "case %s: no energy: %s", plan->the_case->name, err->message);
      return RKB_OK;
   }
   return emit_case(s, plan, &all, &copies);
}

static int energy_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const profiler_t *me = self;
   spending_t spending = {.me = me, .config = me->config, .job = job};
   rkb_build_t *build = NULL;
   rkb_session_t *session = NULL;
   uint32_t visited = 0;
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
                                                 .most = (uint32_t)spending.config->cases},
                             visit, &spending, &visited, err);
   me->device->end(session);
   if (status == RKB_OK && visited && spending.cases == visited) {
      const double joules = exp(spending.log_joules / visited);
      status = emit(&spending, "joules", joules, "J", joules * sqrt(spending.squares) / visited, NULL,
                    "measured: geometric mean over the bench cases", NULL);
      if (status == RKB_OK)
         status = emit(&spending, "watts", exp(spending.log_watts / visited), "W", -1, NULL,
                       "measured: geometric mean over the bench cases", NULL);
   }
   me->kernel->build_free(build);
   return status;
}

static const rkb_option_t options[] = {
   {.name = "rounds",
    .type = RKB_OPT_INT,
    .offset = offsetof(energy_config_t, rounds),
    .fallback = "4",
    .min = 2,
    .max = MOST_ROUNDS,
    .help = "Rounds of each case; the interval is over them."},
   {.name = "round",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(energy_config_t, round),
    .fallback = "400ms",
    .help = "The least length of a round: the counter moves in steps of up to 0.1 s."},
   {.name = "cases",
    .type = RKB_OPT_INT,
    .offset = offsetof(energy_config_t, cases),
    .fallback = "64",
    .min = 1,
    .max = MOST_CASES,
    .help = "At most so many bench cases, from the first."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(energy_config_t, deadline),
    .fallback = "5s",
    .help = "How long one run may take before it counts as hanging."},
};

static const rkb_stage_t energy = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.energy",
   .summary = "Measures the energy of a run with NVML's counter, with an interval.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"joules", "watts", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(energy_config_t),
   .create = energy_create,
   .run = energy_run,
   .destroy = profiler_free,
   .needs = PROFILER_NEEDS,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "energy",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&energy, NULL},
};
