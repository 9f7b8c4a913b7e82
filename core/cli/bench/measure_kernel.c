/* Puts one kernel through a pipeline that checks and times it, and returns the result as JSON. */
#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/json.h"
#include "base/memory.h"
#include "cli/bench/bench.h"
#include "cli/shared/check_result.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/run_archive.h"

static const char TIME[] = "time.us", WARM[] = "time.warm_us";

/* Makes a case's object from the timing stage's detail, and adds the mean. */
static void take_case(json_t *cases, const rkb_measurement_record_t *m) {
   json_t *of_case = json_object_get(cases, m->case_name), *detail = rkb_embedded_json(m->detail);
   if (!of_case) {
      of_case = json_object();
      json_object_set_new(cases, m->case_name, of_case);
   }
   if (strcmp(m->name, TIME) == 0) {
      json_object_set_new(of_case, "us", rkb_json_number(m->value));
      if (json_is_object(detail))
         json_object_update(of_case, detail);
   } else {
      json_object_set_new(of_case, "warm_us", rkb_json_number(m->value));
   }
   json_decref(detail);
}

json_t *rkb_bench_measured(const char *path, const char *standing, const char *reason, const char *tune) {
   return json_pack("{s:s, s:s, s:s, s:o, s:{}}", "kernel", path, "standing", standing, "reason", reason,
                    "tune", rkb_embedded_json(tune), "cases");
}

void rkb_bench_add_measurement(json_t *measured, const rkb_measurement_record_t *m) {
   if (m->case_name && (strcmp(m->name, TIME) == 0 || strcmp(m->name, WARM) == 0))
      take_case(json_object_get(measured, "cases"), m);
   else if (!m->case_name && strcmp(m->name, TIME) == 0) {
      json_t *detail = rkb_embedded_json(m->detail);
      json_object_set_new(measured, "us", rkb_json_number(m->value));
      if (json_object_get(detail, "ms"))
         json_object_set(measured, "time_ms", json_object_get(detail, "ms"));
      json_decref(detail);
   }
}

void rkb_bench_add_verdict(json_t *measured, const rkb_verdict_record_t *verdict) {
   if (!verdict->executes || verdict->shadow || strcmp(verdict->stage, "gpu") != 0)
      return;
   json_t *evidence = rkb_embedded_json(verdict->evidence);
   json_object_set_new(measured, "message", json_string(verdict->message));
   if (json_object_get(evidence, "worker"))
      json_object_set(measured, "worker", json_object_get(evidence, "worker"));
   if (json_object_get(evidence, "ms"))
      json_object_set(measured, "check_ms", json_object_get(evidence, "ms"));
   /* Keeps the case, family, seed and element of a fault, which are needed to reproduce it. */
   if (json_is_object(evidence) && strcmp(verdict->standing, RKB_ACCEPT) != 0) {
      json_object_del(evidence, "worker");
      json_object_del(evidence, "ms");
      json_object_set(measured, "evidence", evidence);
   }
   json_decref(evidence);
}

static json_t *describe(const char *path, const rkb_check_result_t *result) {
   json_t *out = rkb_bench_measured(path, result->standing, result->reason, result->tune);
   for (uint32_t i = 0; out && i < result->measurement_count; i++) {
      rkb_measurement_record_t record = rkb_check_measurement_record(&result->measurements[i]);
      rkb_bench_add_measurement(out, &record);
   }
   for (uint32_t i = 0; out && i < result->verdict_count; i++) {
      rkb_verdict_record_t record = rkb_check_verdict_record(&result->verdicts[i]);
      rkb_bench_add_verdict(out, &record);
   }
   return out;
}

static rkb_pipeline_t *open_pipeline(const rkb_bench_t *bench, const rkb_bench_work_t *work, bool full) {
   const char *const set[] = {full ? "screen.time.with.mode=full" : "screen.time.with.mode=quick", NULL};
   const rkb_pipeline_options_t options = {.path = bench->pipeline,
                                           .task = work->directory,
                                           .direction = work->direction,
                                           .target = bench->target,
                                           .set = set,
                                           .plugin_paths =
                                              rkb_argument_list(bench->arguments, "plugin-path")};
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (problems.count)
      rkb_say_problems(&problems);
   else
      rkb_problems_free(&problems);
   return pipeline;
}

int rkb_bench_measure(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                      const rkb_bench_kernel_t *kernel, bool full, json_t **result, rkb_error_t *err) {
   const char *path = kernel->path;
   char *source = NULL;
   rkb_check_result_t *checked = NULL;
   rkb_pipeline_t *pipeline = NULL;
   int status = rkb_bench_kernel_text(kernel, &source, err);
   *result = NULL;
   if (status == RKB_OK && !(pipeline = open_pipeline(bench, work, full)))
      status = rkb_fail(err, RKB_ERR_INVALID, "%s cannot be used for %s", bench->pipeline, work->name);
   if (status == RKB_OK) {
      rkb_background_pause(bench->ahead, full);
      const rkb_check_options_t options = {.name = path,
                                           .source = source,
                                           .secret = &bench->secret,
                                           .log = bench->log,
                                           .catch_signals = true,
                                           .devices = bench->devices};
      status = rkb_check(pipeline, &options, &checked, err);
      rkb_background_pause(bench->ahead, false);
   }
   if (checked && checked->must_exit_hard) { /* its thread still holds the device */
      *result = NULL;
      return rkb_fail(err, RKB_ERR_CANCELLED, "a stage hung on %s: the device cannot be used any more", path);
   }
   if (status == RKB_OK) {
      char secret[RKB_HASH_TEXT];
      rkb_secret_write(&bench->secret, secret);
      *result = describe(path, checked);
      if (!*result || json_object_set_new(*result, "secret", json_string(secret)) != 0)
         status = rkb_fail_memory(err, 0);
   }
   rkb_check_result_free(checked);
   rkb_pipeline_free(pipeline);
   free(source);
   return status;
}
