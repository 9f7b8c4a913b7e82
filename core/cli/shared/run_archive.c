/* Functions for commands that read a run's archive.  Only the main thread. */
#include "cli/shared/run_archive.h"

#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/units.h"
#include "archive/limiter.h"
#include "cli/shared/tensor_instructions.h"

enum { MAX_TUNE_TEXT = 4096 };

int rkb_say_error(const rkb_error_t *err) {
   fprintf(stderr, "%s\n", err->message);
   return err->status == RKB_ERR_INVALID ? RKB_EXIT_USAGE : RKB_EXIT_BROKEN;
}

rkb_archive_t *rkb_open_run(const char *directory) {
   rkb_error_t err;
   rkb_archive_t *archive = NULL;
   if (rkb_archive_open(directory, &archive, &err) != RKB_OK) {
      rkb_say_error(&err);
      return NULL;
   }
   return archive;
}

int rkb_best_candidate(rkb_archive_t *archive, int64_t *number, rkb_error_t *err) {
   const rkb_archive_query_t query = {
      .size = sizeof query, .order = RKB_ARCHIVE_BY_OBJECTIVE, .limit = 1, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   int status = rkb_archive_query(archive, INT64_MAX, &query, &rows, err);
   if (status != RKB_OK)
      return status;
   *number = rkb_archive_rows_count(rows) > 0 ? rkb_archive_rows_at(rows, 0)->number : 0;
   rkb_archive_rows_free(rows);
   return RKB_OK;
}

bool rkb_was_executed(const rkb_candidate_record_t *candidate) {
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      if (candidate->verdicts[i].executes && !candidate->verdicts[i].shadow)
         return true;
   return false;
}

const char *rkb_objective_unit(const rkb_candidate_record_t *candidate, const char *objective) {
   for (uint32_t i = 0; i < candidate->measurement_count; i++)
      if (objective && !candidate->measurements[i].case_name &&
          strcmp(candidate->measurements[i].name, objective) == 0)
         return strcmp(candidate->measurements[i].unit, "1") != 0 ? candidate->measurements[i].unit : "";
   return "";
}

void rkb_print_verdict(const rkb_verdict_record_t *verdict, const rkb_evidence_source_t *source) {
   char time[32] = "";
   if (verdict->seconds >= 0)
      rkb_format_duration((uint64_t)(verdict->seconds * 1e9), time, sizeof time);
   printf("  %-14s %-8s %10s  %s%s\n", verdict->stage, verdict->standing, time,
          verdict->reason[0] ? verdict->reason : verdict->message, verdict->shadow ? "  (shadow)" : "");
   if (verdict->reason[0])
      rkb_print_evidence(verdict, source);
   rkb_print_tensor_instructions(verdict);
}

/* A measurement without a better direction is a feature for searches.  It is meant for programs, so only
 * --json shows it. */
static void print_measurement(const rkb_measurement_record_t *measurement) {
   rkb_limiter_t limiter;
   if (!measurement->better[0])
      return;
   printf("  %-28s %12.6g%s%s", measurement->name, measurement->value,
          strcmp(measurement->unit, "1") ? " " : "", strcmp(measurement->unit, "1") ? measurement->unit : "");
   if (measurement->spread >= 0)
      printf(" +- %.3g", measurement->spread);
   if (measurement->case_name)
      printf("  %s", measurement->case_name);
   if (rkb_limiter_of(measurement->detail, &limiter))
      printf(": %s", limiter.sentence);
   printf("\n");
}

/* Prints what limits the slowest case, and what may help. */
static void print_advice(const rkb_measurement_record_t *measurements, uint32_t count) {
   rkb_limiter_t limiter;
   if (!rkb_limiter_of_slowest(measurements, count, NULL, &limiter) || !limiter.bottleneck[0])
      return;
   printf("  bottleneck: %s, %.0f %% of its time%s, in %s\n", limiter.bottleneck, 100 * limiter.share,
          limiter.counted ? " as counted" : "", limiter.kernel);
   for (size_t i = 0; i < 2; i++)
      printf("  %s %s\n", i ? "   or" : "  try", limiter.moves[i]);
}

void rkb_print_measurements(const rkb_measurement_record_t *measurements, uint32_t count) {
   for (uint32_t i = 0; i < count; i++)
      if (!measurements[i].case_name)
         print_measurement(&measurements[i]);
   for (uint32_t i = 0; i < count; i++)
      if (measurements[i].case_name)
         print_measurement(&measurements[i]);
   print_advice(measurements, count);
}

json_t *rkb_embedded_json(const char *text) {
   rkb_error_t err;
   json_t *value;
   if (!text)
      return json_null();
   value = rkb_json_parse(text, strlen(text), &err);
   return value ? value : json_string(text);
}

static json_t *text_or_null(const char *text) {
   return text ? json_string(text) : json_null();
}

json_t *rkb_verdict_json(const rkb_verdict_record_t *verdict) {
   return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:b, s:I, s:o}", "stage", verdict->stage, "standing",
                    verdict->standing, "reason", verdict->reason, "message", verdict->message, "evidence",
                    rkb_embedded_json(verdict->evidence), "certificate",
                    rkb_embedded_json(verdict->certificate), "shadow", verdict->shadow, "executes",
                    verdict->executes, "attempts", (json_int_t)verdict->attempts, "seconds",
                    verdict->seconds >= 0 ? json_real(verdict->seconds) : json_null());
}

json_t *rkb_measurement_json(const rkb_measurement_record_t *measurement) {
   return json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:o, s:o}", "name", measurement->name, "value",
                    rkb_json_number(measurement->value), "spread",
                    measurement->spread >= 0 ? json_real(measurement->spread) : json_null(), "unit",
                    measurement->unit, "better", measurement->better, "method", measurement->method, "case",
                    text_or_null(measurement->case_name), "detail", rkb_embedded_json(measurement->detail));
}

json_t *rkb_candidate_json(const rkb_candidate_record_t *candidate, bool with_source) {
   json_t *parents = json_array(), *verdicts = json_array(), *measurements = json_array(), *value;
   for (uint32_t i = 0; i < candidate->parent_count; i++)
      json_array_append_new(parents,
                            json_pack("{s:I, s:s}", "number", (json_int_t)candidate->parents[i].number,
                                      "role", candidate->parents[i].role));
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      json_array_append_new(verdicts, rkb_verdict_json(&candidate->verdicts[i]));
   for (uint32_t i = 0; i < candidate->measurement_count; i++)
      json_array_append_new(measurements, rkb_measurement_json(&candidate->measurements[i]));
   value = json_pack(
      "{s:I, s:s, s:I, s:i, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "number",
      (json_int_t)candidate->number, "section",
      candidate->section == RKB_SECTION_PROPOSE ? "propose" : "search", "request",
      (json_int_t)candidate->request, "child", (int)candidate->child, "operator", candidate->operator_id,
      "task", candidate->task, "direction", candidate->direction, "tune", rkb_embedded_json(candidate->tune),
      "hash", candidate->hash, "source_hash", candidate->source_hash, "note", text_or_null(candidate->note),
      "standing", candidate->standing, "reason", candidate->reason, "duplicate_of",
      candidate->duplicate_of ? json_integer(candidate->duplicate_of) : json_null(), "objective",
      candidate->has_objective ? rkb_json_number(candidate->objective) : json_null(), "parents", parents,
      "verdicts", verdicts, "measurements", measurements);
   if (value && with_source)
      json_object_set_new(value, "source", json_string(candidate->source));
   return value;
}

int rkb_print_json(json_t *value) {
   char *text = value ? rkb_json_canonical(value) : NULL;
   json_decref(value);
   if (!text)
      rkb_end_without_memory(0);
   printf("%s\n", text);
   free(text);
   return RKB_EXIT_OK;
}

char *rkb_spell_tune(const char *tune_json) {
   rkb_error_t err;
   rkb_text_t text;
   const char *name;
   json_t *value, *tune = rkb_json_parse(tune_json, strlen(tune_json), &err);
   rkb_text_init(&text, MAX_TUNE_TEXT);
   json_object_foreach(tune, name, value)
      rkb_text_format(&text, "%s%s=%lld", text.length ? " " : "", name, (long long)json_integer_value(value));
   json_decref(tune);
   return rkb_text_take(&text);
}
