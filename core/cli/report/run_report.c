/* Gathers the report in one pass over the candidates and one over the requests.  The main thread alone. */
#include "cli/report/run_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/json.h"
#include "base/memory.h"
#include "archive/limiter.h"
#include "cli/shared/run_archive.h"

enum { SHOWN_ORIGINALS = 5 };

typedef struct gathering {
   rkb_archive_t *archive;
   json_t *report, *stages, *operators, *progress, *counts;
   json_t *bests; /* the candidates that became the best, and when */
   char *objective;
   /* The best candidate's value in the propose section, or the first accepted one's; NaN before any. */
   double first;
   double best;     /* the best value so far; NaN before any */
   double *values;  /* objective by candidate number, NaN for none */
   int64_t *copies; /* duplicates by the number of their original */
   int64_t last;
} gathering_t;

static void count(json_t *object, const char *key, json_int_t more) {
   json_object_set_new(object, key, json_integer(json_integer_value(json_object_get(object, key)) + more));
}

static void add_real(json_t *object, const char *key, double more) {
   json_object_set_new(object, key, json_real(json_number_value(json_object_get(object, key)) + more));
}

/* Finds the entry of a list with that "id", or makes it. */
static json_t *entry_of(json_t *list, const char *id) {
   size_t index;
   json_t *entry;
   json_array_foreach(list, index, entry) if (strcmp(json_string_value(json_object_get(entry, "id")), id) ==
                                              0) return entry;
   entry = json_pack("{s:s}", "id", id);
   json_array_append_new(list, entry);
   return entry;
}

/* Adds the durations of the jobs that verdict rows report. */
static void gather_seconds(json_t *stage, double seconds) {
   json_t *all = json_object_get(stage, "seconds");
   if (!json_is_true(json_object_get(stage, "timed_by_verdicts"))) {
      /* Replaces the sum, because this total also counts jobs whose candidate was never stored. */
      all = json_object();
      json_object_set_new(stage, "seconds", all);
      json_object_set_new(stage, "timed_by_verdicts", json_true());
   }
   count(all, "jobs", 1);
   add_real(all, "total", seconds);
   if (seconds > json_number_value(json_object_get(all, "longest")))
      json_object_set_new(all, "longest", json_real(seconds));
   json_object_set_new(all, "mean",
                       json_real(json_number_value(json_object_get(all, "total")) /
                                 json_number_value(json_object_get(all, "jobs"))));
}

static json_t *seconds_of(const json_t *spent) {
   double total = json_number_value(json_object_get(spent, "total"));
   json_int_t jobs = json_integer_value(json_object_get(spent, "jobs"));
   return json_pack("{s:I, s:f, s:f, s:f}", "jobs", jobs, "total", total, "mean",
                    jobs > 0 ? total / (double)jobs : 0.0, "longest",
                    json_number_value(json_object_get(spent, "longest")));
}

/* Adds the time at which each candidate became the best. */
static void add_elapsed(json_t *progress, const json_t *bests) {
   size_t index, at;
   json_t *entry, *best;
   json_array_foreach(progress, index, entry) json_array_foreach(bests, at, best) {
      if (json_equal(json_object_get(entry, "number"), json_object_get(best, "candidate")))
         json_object_set(entry, "elapsed", json_object_get(best, "elapsed"));
   }
}

/* Reads the fact "times", which has entries in the pipeline's order, including those that give no verdict. */
static void gather_times(gathering_t *all) {
   rkb_error_t err;
   size_t index;
   json_t *spent;
   char *text = rkb_archive_get_fact(all->archive, "times");
   json_t *times = text ? rkb_json_parse(text, strlen(text), &err) : NULL;
   if (json_is_number(json_object_get(times, "elapsed")))
      json_object_set(all->report, "elapsed", json_object_get(times, "elapsed"));
   all->bests = json_incref(json_object_get(times, "bests"));
   json_array_foreach(json_object_get(times, "stages"), index, spent) {
      const char *id = json_string_value(json_object_get(spent, "id"));
      const char *section = json_string_value(json_object_get(spent, "section"));
      if (!id || !section)
         continue;
      bool screens = strcmp(section, "screen") == 0 || strcmp(section, "evaluate") == 0;
      json_t *entry = strcmp(section, "search") == 0 ? json_object_get(all->report, "search")
                                                     : entry_of(screens ? all->stages : all->operators, id);
      json_object_set_new(entry, "id", json_string(id));
      json_object_set_new(entry, "seconds", seconds_of(spent));
      if (screens)
         json_object_set(entry, "entered", json_object_get(spent, "jobs"));
   }
   json_decref(times);
   free(text);
}

static void gather_verdict(gathering_t *all, const rkb_verdict_record_t *verdict) {
   json_t *stage = entry_of(all->stages, verdict->stage), *reasons;
   if (!json_is_true(json_object_get(stage, "verdicts"))) {
      json_object_set_new(stage, "verdicts", json_true());
      json_object_set_new(stage, "entered", json_integer(0));
   }
   count(stage, "entered", 1);
   count(stage, verdict->standing, 1);
   if (verdict->shadow)
      json_object_set_new(stage, "shadow", json_true());
   if (verdict->reason[0]) {
      reasons = json_object_get(stage, "reasons");
      if (!reasons) {
         reasons = json_object();
         json_object_set_new(stage, "reasons", reasons);
      }
      count(reasons, verdict->reason, 1);
   }
   if (verdict->seconds >= 0)
      gather_seconds(stage, verdict->seconds);
}

static void gather_progress(gathering_t *all, const rkb_candidate_record_t *candidate, json_t *operator_) {
   if (!candidate->has_objective || strcmp(candidate->standing, RKB_ACCEPT) != 0)
      return;
   if (!isnan(all->best) && candidate->objective >= all->best)
      return;
   if (!isnan(all->best))
      count(operator_, "new_best", 1);
   if (isnan(all->first) || candidate->section == RKB_SECTION_PROPOSE)
      all->first = candidate->objective;
   all->best = candidate->objective;
   json_object_set_new(all->report, "unit", json_string(rkb_objective_unit(candidate, all->objective)));
   json_array_append_new(all->progress,
                         json_pack("{s:I, s:f, s:s, s:s, s:s}", "number", (json_int_t)candidate->number,
                                   "value", all->best, "operator", candidate->operator_id, "section",
                                   candidate->section == RKB_SECTION_PROPOSE ? "propose" : "search", "note",
                                   candidate->note ? candidate->note : ""));
}

/* Adds the gain over the best of its parents, as strategies see it. */
static void gather_gain(gathering_t *all, const rkb_candidate_record_t *candidate, json_t *operator_) {
   double before = INFINITY;
   for (uint32_t i = 0; i < candidate->parent_count; i++) {
      int64_t number = candidate->parents[i].number;
      bool is_parent = strcmp(candidate->parents[i].role, "parent") == 0;
      if (is_parent && number > 0 && number <= all->last && all->values[number] < before)
         before = all->values[number];
   }
   if (!candidate->has_objective || strcmp(candidate->standing, RKB_ACCEPT) != 0 || !isfinite(before))
      return;
   double gain = before / candidate->objective;
   if (gain > 1)
      count(operator_, "bettered_parent", 1);
   if (gain > json_number_value(json_object_get(operator_, "best_gain")))
      json_object_set_new(operator_, "best_gain", json_real(gain));
}

static void gather_duplicate(gathering_t *all, const rkb_candidate_record_t *candidate) {
   json_t *duplicates = json_object_get(all->report, "duplicates");
   count(duplicates, candidate->verdict_count > 0 ? "after_build" : "before_build", 1);
   if (candidate->duplicate_of <= all->last)
      all->copies[candidate->duplicate_of]++;
}

static void gather_candidate(gathering_t *all, const rkb_candidate_record_t *candidate) {
   json_t *operator_ = entry_of(all->operators, candidate->operator_id);
   count(operator_, "made", 1);
   /* A duplicate's stages before it was recognised cost time too. */
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      gather_verdict(all, &candidate->verdicts[i]);
   if (candidate->duplicate_of > 0) {
      count(operator_, "duplicates", 1);
      gather_duplicate(all, candidate);
      return;
   }
   count(all->counts, "candidates", 1);
   count(all->counts, candidate->standing, 1);
   count(operator_, candidate->standing, 1);
   all->values[candidate->number] = candidate->has_objective ? candidate->objective : NAN;
   gather_gain(all, candidate, operator_);
   gather_progress(all, candidate, operator_);
}

static int gather_candidates(gathering_t *all, rkb_error_t *err) {
   int64_t *numbers = NULL;
   uint32_t found = 0;
   int status = rkb_archive_candidates(all->archive, 0, 0, &numbers, &found, err);
   for (uint32_t i = 0; status == RKB_OK && i < found; i++) {
      rkb_candidate_record_t *candidate = NULL;
      status = rkb_archive_load_candidate(all->archive, numbers[i], &candidate, err);
      if (status == RKB_OK && candidate->number > 0 && candidate->number <= all->last)
         gather_candidate(all, candidate);
      rkb_candidate_record_free(candidate);
   }
   free(numbers);
   return status;
}

static int gather_request(void *argument, const rkb_request_record_t *request) {
   gathering_t *all = argument;
   if (request->operator_id[0] == '\0') {
      count(all->counts, "empty_requests", 1);
      return RKB_OK;
   }
   json_t *operator_ = entry_of(all->operators, request->operator_id);
   count(operator_, "requests", 1);
   count(all->counts, "requests", 1);
   if (request->failure) {
      count(operator_, "failed", 1);
      /* The last one replaces earlier ones. */
      json_object_set_new(operator_, "failure", json_string(request->failure));
   }
   return RKB_OK;
}

static void most_copied(gathering_t *all) {
   json_t *originals = json_array();
   for (int shown = 0; shown < SHOWN_ORIGINALS; shown++) {
      int64_t most = 0;
      for (int64_t number = 1; number <= all->last; number++)
         if (all->copies[number] > all->copies[most])
            most = number;
      if (most == 0)
         break;
      json_array_append_new(originals, json_pack("{s:I, s:I}", "number", (json_int_t)most, "copies",
                                                 (json_int_t)all->copies[most]));
      all->copies[most] = 0;
   }
   json_object_set_new(json_object_get(all->report, "duplicates"), "originals", originals);
}

static int gather_cost(gathering_t *all, rkb_error_t *err) {
   rkb_archive_counts_t counts;
   double usd = 0, estimated = 0;
   int status = rkb_archive_count(all->archive, &counts, err);
   if (status == RKB_OK)
      status = rkb_archive_cost(all->archive, &usd, err);
   if (status == RKB_OK)
      status = rkb_archive_estimates(all->archive, &estimated, err);
   if (status != RKB_OK)
      return status;
   count(all->counts, "promoted", (json_int_t)counts.promoted);
   if (counts.calls > 0)
      json_object_set_new(all->report, "cost",
                          json_pack("{s:I, s:f, s:f}", "calls", (json_int_t)counts.calls, "usd", usd,
                                    "estimated_usd", estimated));
   return RKB_OK;
}

static void gather_facts(gathering_t *all) {
   static const char *const keys[] = {"name", "task",   "direction",  "target", "objective",
                                      "seed", "secret", "created_ms", "ended",  "ended_because", "skipped_stages"};
   json_t *facts = json_object();
   for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      char *value = rkb_archive_get_fact(all->archive, keys[i]);
      if (value && value[0])
         json_object_set_new(facts, keys[i], json_string(value));
      free(value);
   }
   json_object_set_new(all->report, "run", facts);
}

static int gather_best(gathering_t *all, rkb_error_t *err) {
   rkb_candidate_record_t *best = NULL;
   rkb_limiter_t limiter = {.sentence = ""};
   int64_t number = 0;
   int status = rkb_best_candidate(all->archive, &number, err);
   json_object_set_new(all->report, "best", json_null());
   json_object_set_new(all->report, "lineage", json_array());
   if (status != RKB_OK || number == 0)
      return status;
   status = rkb_archive_load_candidate(all->archive, number, &best, err);
   if (status != RKB_OK)
      return status;
   rkb_limiter_of_slowest(best->measurements, best->measurement_count, all->objective, &limiter);
   json_object_set_new(all->report, "best",
                       json_pack("{s:I, s:f, s:f, s:f, s:s, s:b}", "number", (json_int_t)number, "value",
                                 best->objective, "first", all->first, "gain", all->first / best->objective,
                                 "limiter", limiter.sentence, "verified_by_execution", rkb_was_executed(best)));
   rkb_candidate_record_free(best);
   json_t *lineage = rkb_report_lineage(all->archive, number, all->objective, err);
   if (lineage)
      json_object_set_new(all->report, "lineage", lineage);
   return lineage ? RKB_OK : err->status;
}

/* Adds the gains.  Their reference value is known only after all candidates were read. */
static void add_gains(gathering_t *all) {
   size_t index;
   json_t *entry;
   json_array_foreach(all->progress, index, entry) json_object_set_new(
      entry, "gain", json_real(all->first / json_number_value(json_object_get(entry, "value"))));
}

static int gather(gathering_t *all, rkb_error_t *err) {
   int status;
   gather_facts(all);
   gather_times(all);
   status = gather_cost(all, err);
   if (status == RKB_OK)
      status = rkb_archive_each_request(all->archive, gather_request, all, err);
   if (status == RKB_OK)
      status = gather_candidates(all, err);
   add_gains(all);
   add_elapsed(all->progress, all->bests);
   json_decref(all->bests);
   if (status == RKB_OK)
      status = gather_best(all, err);
   if (status == RKB_OK)
      most_copied(all);
   return status;
}

int rkb_report_make(rkb_archive_t *archive, json_t **report, rkb_error_t *err) {
   gathering_t all = {.archive = archive, .first = NAN, .best = NAN};
   int status = rkb_archive_last_candidate(archive, &all.last, err);
   *report = NULL;
   if (status != RKB_OK)
      return status;
   all.values = rkb_try_allocate((size_t)all.last + 1, sizeof *all.values, err);
   all.copies = rkb_try_allocate((size_t)all.last + 1, sizeof *all.copies, err);
   all.objective = rkb_archive_get_fact(archive, "objective");
   all.report =
      json_pack("{s:{}, s:[], s:[], s:{}, s:[], s:{s:i, s:i}, s:s}", "counts", "stages", "operators",
                "search", "progress", "duplicates", "before_build", 0, "after_build", 0, "unit", "");
   if (all.values && all.copies && all.report) {
      for (int64_t number = 0; number <= all.last; number++)
         all.values[number] = NAN;
      all.counts = json_object_get(all.report, "counts");
      all.stages = json_object_get(all.report, "stages");
      all.operators = json_object_get(all.report, "operators");
      all.progress = json_object_get(all.report, "progress");
      status = gather(&all, err);
   } else {
      status = rkb_fail_memory(err, 0);
   }
   free(all.objective);
   free(all.copies);
   free(all.values);
   if (status == RKB_OK)
      *report = all.report;
   else
      json_decref(all.report);
   return status;
}
