/* rkb.verifier.lint - judges a candidate from its tokens and its manifest alone, in well under a millisecond.
 *
 * One verdict a job: the worst severity found decides, the first place of that severity is what the message
 * names, and the evidence lists everything.  Owns nothing between jobs; runs on workers. */
#include <rkb/ext/task.h>
#include <rkb/items.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "rules.h"

typedef struct lint {
   const rkb_host_t *host;
   const rkb_kernel_api_t *kernel;
   const rkb_task_api_t *task; /* NULL: rules about tensors find nothing */
} lint_t;

static int lint_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   (void)config;
   lint_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (lint_t){host, host->get_extension(host, RKB_EXT_KERNEL), host->get_extension(host, RKB_EXT_TASK)};
   *self = me;
   return RKB_OK;
}

static json_t *finding_json(const lint_finding_t *finding) {
   return json_pack("{s:s, s:s, s:i, s:i, s:s, s:s}", "rule", finding->rule->name, "severity",
                    lint_severity_name(finding->rule->severity), "line", (int)finding->line, "column",
                    (int)finding->column, "what", finding->what, "why", finding->rule->why);
}

/* The first finding of the worst severity, or NULL. */
static const lint_finding_t *worst_of(const lint_report_t *report) {
   const lint_finding_t *worst = NULL;
   for (uint32_t i = 0; i < report->count; i++) {
      const lint_finding_t *finding = &report->findings[i];
      bool earlier = worst && finding->rule->severity == worst->rule->severity && finding->line < worst->line;
      if (!worst || finding->rule->severity > worst->rule->severity || earlier)
         worst = finding;
   }
   return worst;
}

static char *evidence_of(const lint_report_t *report, const lint_finding_t *worst) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < report->count; i++)
      json_array_append_new(list, finding_json(&report->findings[i]));
   json_t *object = json_pack("{s:s, s:i, s:i, s:o}", "rule", worst->rule->name, "line", (int)worst->line,
                              "column", (int)worst->column, "findings", list);
   char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
   json_decref(object);
   return text;
}

static int emit_report(const lint_t *me, rkb_job_t job, const lint_report_t *report) {
   static const char *const standings[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_REJECT};
   const lint_finding_t *worst = worst_of(report);
   if (!worst)
      return rkb_emit_verdict(me->host, job, RKB_ACCEPT, "", "nothing to remark");
   char reason[64], message[512];
   const uint32_t others = report->count + report->dropped - 1;
   snprintf(reason, sizeof reason, "lint.%s", worst->rule->name);
   int used =
      snprintf(message, sizeof message, "line %u: %s: %s", worst->line, worst->what, worst->rule->why);
   if (others > 0 && used > 0 && (size_t)used < sizeof message)
      snprintf(message + used, sizeof message - (size_t)used, " (and %u more remark%s)", others,
               others == 1 ? "" : "s");
   char *evidence = evidence_of(report, worst);
   int status =
      rkb_emit_verdict_full(me->host, job, standings[worst->rule->severity],
                            worst->rule->severity == LINT_NOTE ? "" : reason, message, evidence, NULL);
   free(evidence);
   return status;
}

/* Tensors of any case: names and roles are the same in all. */
static const rkb_case_t *any_case(const lint_t *me) {
   if (!me->task)
      return NULL;
   const rkb_case_t *found = me->task->case_at(me->host, RKB_CASE_CHECK, 0);
   return found ? found : me->task->case_at(me->host, RKB_CASE_BENCH, 0);
}

static int judge(const lint_t *me, rkb_job_t job, const char *text, const rkb_manifest_t *manifest,
                 rkb_error_t *err) {
   source_t source;
   functions_t functions;
   lint_report_t *report = malloc(sizeof *report);
   if (!report)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *report);
   int status = source_open(&source, me->kernel, text, strlen(text), err);
   if (status != RKB_OK)
      goto free_report;
   status = functions_find(&source, &functions, err);
   if (status != RKB_OK)
      goto close_source;
   const rkb_case_t *a_case = any_case(me);
   const rkb_task_info_t *info = me->task ? me->task->info(me->host) : NULL;
   const lint_subject_t subject = {.source = &source,
                                   .functions = &functions,
                                   .kernel = me->kernel,
                                   .manifest = manifest,
                                   .tensors = a_case ? a_case->tensors : NULL,
                                   .tensor_count = a_case ? a_case->tensor_count : 0,
                                   .precision = info ? info->precision : ""};
   lint_run(&subject, report);
   status = emit_report(me, job, report);
   functions_free(&functions);
close_source:
   source_close(&source);
free_report:
   free(report);
   return status;
}

static int lint_job(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const lint_t *me = self;
   const char *text = me->host->item_text(me->host, in, "source");
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   if (!text)
      return rkb_fail(err, RKB_ERR_CONTRACT, "the candidate has no source");
   int status = me->kernel->manifest(me->host, text, &manifest, &finding, err);
   if (status != RKB_OK)
      return status;
   if (!manifest) {
      char evidence[96];
      snprintf(evidence, sizeof evidence, "{\"line\": %u, \"column\": %u}", finding.line, finding.column);
      return rkb_emit_verdict_full(me->host, job, RKB_REJECT, finding.reason, finding.message, evidence,
                                   NULL);
   }
   status = judge(me, job, text, manifest, err);
   me->kernel->manifest_free(manifest);
   return status;
}

static void lint_destroy(void *self) {
   free(self);
}

static const rkb_stage_t lint = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.verifier.lint",
   .summary = "Checks a candidate's tokens and manifest, without building it.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   .create = lint_create,
   .run = lint_job,
   .destroy = lint_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "lint",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&lint, NULL},
};
