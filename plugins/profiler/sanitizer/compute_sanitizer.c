/* rkb.profiler.sanitizer - runs compute-sanitizer's four tools over a candidate's check cases: bad accesses,
 * races in shared memory, reads of uninitialised memory, misused barriers, as the device sees them.  A second
 * opinion on candidates that the checking machine finds suspect (`only: [suspect]`), and on any other on
 * request.  It counts findings, and does not judge.  Each tool starts a worker of its own.  Blocks on
 * workers; holds the device while it runs. */
#include <jansson.h>
#include <rkb/items.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sanitizer_report.h"
#include "shared/profiled_plan.h"

enum { MOST_CASES = 64, TOOLS = 4 };
static const char *const TOOL_NAMES[TOOLS] = {"memcheck", "racecheck", "initcheck", "synccheck"};

typedef struct sanitizer_config {
   const char *program, *tools;
   int64_t cases;
   uint64_t deadline;
} sanitizer_config_t;

typedef struct sanitizer {
   profiler_t profiler; /* comes first, as profiler_new wants it */
   bool wanted[TOOLS];
} sanitizer_t;

typedef struct checking {
   const sanitizer_t *me;
   const sanitizer_config_t *config;
   rkb_job_t job;
   const rkb_item_t *in;
   const rkb_build_t *build;
   char program[1024];
   uint32_t ran;    /* cases that this tool ran */
   double findings; /* the findings of all tools */
   bool whole;      /* whether every tool wrote its summary */
} checking_t;

/* Reads names such as "memcheck, racecheck", separated by commas and spaces. */
static int choose_tools(sanitizer_t *me, rkb_error_t *err) {
   const char *at = ((const sanitizer_config_t *)me->profiler.config)->tools;
   while (*(at += strspn(at, ", "))) {
      const size_t length = strcspn(at, ", ");
      int tool = 0;
      while (tool < TOOLS && (strlen(TOOL_NAMES[tool]) != length || strncmp(TOOL_NAMES[tool], at, length) != 0))
         tool++;
      if (tool == TOOLS)
         return rkb_fail(err, RKB_ERR_INVALID, "tools: no '%.*s'; there are memcheck, racecheck, initcheck, synccheck", (int)length, at);
      me->wanted[tool] = true;
      at += length;
   }
   return RKB_OK;
}

static int sanitizer_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   void *me = NULL;
   int status = profiler_new(host, config, sizeof(sanitizer_t), &me, err);
   if (status == RKB_OK)
      status = choose_tools(me, err);
   if (status != RKB_OK)
      profiler_free(me);
   else
      *self = me;
   return status;
}

/* A fault ends the worker's context.  The tool has reported its cause then, and that is enough. */
static int visit(void *context, const profiled_plan_t *plan, rkb_error_t *err) {
   checking_t *c = context;
   rkb_run_outcome_t outcome = {0};
   int status = c->me->profiler.device->run(plan->session, 0, 0, (uint32_t)(c->config->deadline / 1000000), &outcome, err);
   c->ran++;
   return status == RKB_OK && outcome.outcome != RKB_RAN_WELL ? PROFILED_ENOUGH : status;
}

static int emit(const checking_t *c, const char *name, double value, json_t *detail) {
   char *text = detail ? json_dumps(detail, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   int status = rkb_emit_measurement(c->me->profiler.host, c->job,
                                     &(rkb_measurement_t){.name = name,
                                                          .value = value,
                                                          .unit = "1",
                                                          .better = "lower",
                                                          .method = "compute-sanitizer: errors and warnings over check cases",
                                                          .spread = -1,
                                                          .detail = text});
   free(text);
   json_decref(detail);
   return status;
}

static int tell(checking_t *c, const char *tool, const char *report, size_t length) {
   sanitizer_summary_t summary;
   json_t *reports = json_array();
   sanitizer_report_read(report, length, &summary);
   if (!summary.ended || summary.failure[0]) {
      rkb_warn(c->me->profiler.host, "%s says nothing of this candidate: %s", tool,
               summary.failure[0] ? summary.failure : "it came to no summary");
      c->whole = false;
      json_decref(reports);
      return RKB_OK;
   }
   for (uint32_t i = 0; i < summary.report_count; i++)
      json_array_append_new(reports, json_string(summary.reports[i]));
   c->findings += (double)(summary.errors + summary.warnings);
   return emit(c, tool, (double)(summary.errors + summary.warnings),
               json_pack("{s:I, s:I, s:I, s:o}", "errors", (json_int_t)summary.errors, "warnings", (json_int_t)summary.warnings, "cases",
                         (json_int_t)c->ran, "reports", reports));
}

static int check_with(checking_t *c, const char *tool, rkb_error_t *err) {
   const profiler_t *p = &c->me->profiler;
   const char *const words[] = {c->program, "--tool", tool, "--print-limit", "8", "--show-backtrace", "no", "--log-file", "/dev/stderr", NULL};
   rkb_session_t *session = NULL;
   char *report = NULL;
   size_t length = 0;
   uint32_t visited = 0;
   c->ran = 0;
   int status = p->device->begin_under(p->host, c->job, words, &session, err);
   if (status == RKB_ERR_UNAVAILABLE) {
      rkb_warn(p->host, "no %s: %s", tool, err->message);
      c->whole = false;
      return RKB_OK;
   }
   if (status == RKB_OK)
      status = profile_cases(p,
                             &(profiled_cases_t){.job = c->job,
                                                 .in = c->in,
                                                 .build = c->build,
                                                 .session = session,
                                                 .kind = RKB_CASE_CHECK,
                                                 .most = (uint32_t)c->config->cases,
                                                 .placement = RKB_UNTOUCHED},
                             visit, c, &visited, err);
   /* These tools look for errors of the driver, so their report says more than the status. */
   rkb_error_t ignored;
   const bool reported = session && p->device->report(session, &report, &length, &ignored) == RKB_OK;
   if (reported && (status == RKB_OK || status == RKB_ERR_UNAVAILABLE))
      status = tell(c, tool, report, length);
   free(report);
   p->device->end(session);
   return status;
}

static int sanitizer_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const sanitizer_t *me = self;
   checking_t c = {.me = me, .config = me->profiler.config, .job = job, .in = in, .whole = true};
   rkb_build_t *build = NULL;
   int status = profiler_build(&me->profiler, job, in, &build, err);
   c.build = build;
   find_tool(c.config->program, "compute-sanitizer", c.program, sizeof c.program);
   for (int tool = 0; tool < TOOLS && status == RKB_OK; tool++)
      if (me->wanted[tool])
         status = check_with(&c, TOOL_NAMES[tool], err);
   if (status == RKB_OK && c.whole)
      status = emit(&c, "findings", c.findings, NULL);
   me->profiler.kernel->build_free(build);
   return status;
}

static const rkb_option_t options[] = {
   {.name = "program",
    .type = RKB_OPT_STRING,
    .offset = offsetof(sanitizer_config_t, program),
    .fallback = "\"\"",
    .help = "compute-sanitizer on the worker's machine; \"\": the one on PATH or of /usr/local/cuda."},
   {.name = "tools",
    .type = RKB_OPT_STRING,
    .offset = offsetof(sanitizer_config_t, tools),
    .fallback = "memcheck, racecheck, initcheck, synccheck",
    .help = "Which of its tools to run, one after the other."},
   {.name = "cases",
    .type = RKB_OPT_INT,
    .offset = offsetof(sanitizer_config_t, cases),
    .fallback = "3",
    .min = 1,
    .max = MOST_CASES,
    .help = "At most so many check cases, from the first; the tools are 10 to 100 times slower than the kernel."},
   {.name = "deadline",
    .type = RKB_OPT_DURATION,
    .offset = offsetof(sanitizer_config_t, deadline),
    .fallback = "60s",
    .help = "How long one run may take under a tool before it counts as hanging."},
};

static const rkb_stage_t sanitizer = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_PROFILER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXCLUSIVE_GPU,
   .id = "rkb.profiler.sanitizer",
   .summary = "Counts what compute-sanitizer's tools find on the device.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"memcheck", "racecheck", "initcheck", "synccheck", "findings", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(sanitizer_config_t),
   .create = sanitizer_create,
   .run = sanitizer_run,
   .destroy = profiler_free,
   .needs = PROFILER_NEEDS,
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "sanitizer",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&sanitizer, NULL},
};
