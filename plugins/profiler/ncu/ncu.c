/* rkb.profiler.ncu - runs Nsight Compute over a candidate's launches: that program starts a worker of its
 * own, which runs the plan once.  Gives the same figures as rkb.profiler.cupti, obtained in another way, and
 * reports the program's message where it cannot count.  Blocks on workers; holds the device while it runs. */
#include <ctype.h>
#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ncu_report.h"
#include "shared/launch_report.h"
#include "shared/profiled_plan.h"

#define METHOD "measured: Nsight Compute, cold caches, clocks as they are"

enum { MOST_CASES = 64, MOST_METRICS_TEXT = 4096, MOST_FILTER = 4096 };

typedef struct ncu_config {
   const char *program;
   int64_t cases;
   uint64_t deadline;
} ncu_config_t;

typedef struct counting {
   const profiler_t *me;
   const ncu_config_t *config;
   rkb_job_t job;
   launch_totals_t totals;
   char why[256]; /* why nothing was counted */
} counting_t;

static int ncu_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   return profiler_new(host, config, sizeof(profiler_t), self, err);
}

static void join_metrics(char *out, size_t size) {
   size_t used = 0;
   for (int i = 0; i < COUNTER_COUNT && used < size; i++)
      used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "," : "", COUNTER_NAMES[i]);
}

/* Writes "regex:^(first|second)$", so that the worker's own kernels are not profiled. */
static void join_entries(const rkb_build_t *build, char *out, size_t size) {
   size_t used = (size_t)snprintf(out, size, "regex:^(");
   for (uint32_t i = 0; i < build->kernel_count; i++) {
      const char *entry = build->kernels[i].entry;
      if (used + strlen(entry) + 4 >= size)
         break;
      if (i)
         out[used++] = '|';
      for (const char *c = entry; *c; c++)
         out[used++] = isalnum((unsigned char)*c) || *c == '_' ? *c : '.';
   }
   snprintf(out + used, size - used, ")$");
}

/* Runs the plan once under the tool, and reads its table. */
static int visit(void *context, const profiled_plan_t *plan, rkb_error_t *err) {
   counting_t *c = context;
   const profiler_t *p = c->me;
   const uint32_t launches = plan->plan->launch_count;
   rkb_run_outcome_t outcome = {0};
   char *report = NULL;
   size_t length = 0;
   double *values = calloc((size_t)launches * COUNTER_COUNT + 1, sizeof *values);
   int status = values ? p->device->run(plan->session, 0, 0, (uint32_t)(c->config->deadline / 1000000), &outcome, err)
                       : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   /* If the worker ends under the tool, the tool is the cause, and its message says more than the status. */
   const bool ended = status == RKB_ERR_UNAVAILABLE;
   if (status == RKB_OK || ended)
      status = p->device->report(plan->session, &report, &length, err);
   if (status == RKB_OK) {
      const uint32_t rows = ncu_report_read(report, length, COUNTER_NAMES, COUNTER_COUNT, launches, values);
      ncu_report_error(report, length, c->why, sizeof c->why);
      if (ended && !c->why[0])
         snprintf(c->why, sizeof c->why, "the worker ended under it, and it does not say why");
      if (rows != launches && !c->why[0])
         snprintf(c->why, sizeof c->why, "Nsight Compute reported %u launches in place of %u", rows, launches);
      if (rows == launches && !ended)
         status = report_counted(p, c->job, plan, values, METHOD, &c->totals);
   }
   free(report);
   free(values);
   return status == RKB_OK ? PROFILED_ENOUGH : status;
}

/* Profiles one case.  Each case starts the tool anew, since it writes its report when it ends. */
static int profile_case(counting_t *c, const char *const *words, const profiled_cases_t *one, uint32_t *visited, rkb_error_t *err) {
   const profiler_t *p = c->me;
   rkb_session_t *session = NULL;
   *visited = 1;
   int status = p->device->begin_under(p->host, c->job, words, &session, err);
   if (status == RKB_ERR_UNAVAILABLE) { /* there is no such program, or it cannot start the worker */
      snprintf(c->why, sizeof c->why, "%s", err->message);
      return RKB_OK;
   }
   profiled_cases_t here = *one;
   here.session = session;
   if (status == RKB_OK)
      status = profile_cases(p, &here, visit, c, visited, err);
   p->device->end(session);
   return status;
}

static int profile_build(counting_t *c, const rkb_item_t *in, const rkb_build_t *build, rkb_error_t *err) {
   char program[1024], metrics[MOST_METRICS_TEXT], filter[MOST_FILTER];
   find_tool(c->config->program, "ncu", program, sizeof program);
   join_metrics(metrics, sizeof metrics);
   join_entries(build, filter, sizeof filter);
   /* Clocks stay as they are: fixing them needs rights, and changes what other programs see. */
   const char *const words[] = {program,     "--clock-control", "none", "--csv",   "--page", "raw", "--print-units", "base", "--log-file", "stderr",
                                "--metrics", metrics, "--kernel-name-base", "mangled", "--kernel-name", filter, NULL};
   int status = RKB_OK;
   uint32_t cases = 0;
   for (uint32_t visited = 1; status == RKB_OK && visited && !c->why[0] && cases < (uint32_t)c->config->cases; cases += visited) {
      if (!c->me->task->case_at(c->me->host, RKB_CASE_BENCH, cases))
         break;
      const profiled_cases_t one = {.job = c->job, .in = in, .build = build, .kind = RKB_CASE_BENCH, .first = cases, .most = 1};
      status = profile_case(c, words, &one, &visited, err);
   }
   if (status == RKB_OK && c->why[0])
      rkb_warn(c->me->host, "no counters by '%s': %s", program, c->why);
   return status == RKB_OK ? report_totals(c->me, c->job, &c->totals, cases, METHOD) : status;
}

static int ncu_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const profiler_t *me = self;
   counting_t counting = {.me = me, .config = me->config, .job = job};
   rkb_build_t *build = NULL;
   int status = profiler_build(me, job, in, &build, err);
   if (status == RKB_OK)
      status = profile_build(&counting, in, build, err);
   me->kernel->build_free(build);
   return status;
}

static const rkb_option_t options[] = {
   {.name = "program",
    .type = RKB_OPT_STRING,
    .offset = offsetof(ncu_config_t, program),
    .fallback = "\"\"",
    .help = "Nsight Compute on the worker's machine; \"\": the ncu on PATH or of /usr/local/cuda."},
   {.name = "cases",
    .type = RKB_OPT_INT,
    .offset = offsetof(ncu_config_t, cases),
    .fallback = "64",
    .min = 1,
    .max = MOST_CASES,
    .help = "At most so many bench cases, from the first; each starts the program once, which takes seconds."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(ncu_config_t, deadline),
    .fallback = "60s",
    .help = "How long the profiled run may take, which the program repeats for each group of counters."},
};

static const rkb_stage_t ncu = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.ncu",
   .summary = "Reads the hardware's counters of each launch with Nsight Compute.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"kernel_us", "memory_share", "tensor_share", "occupancy", "limiter", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(ncu_config_t),
   .create = ncu_create,
   .run = ncu_run,
   .destroy = profiler_free,
   .needs = PROFILER_NEEDS,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "ncu",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&ncu, NULL},
};
