/* Gathers the data of a run's page (run_page.h) in one pass over the candidates and one over the calls.  The main thread alone. */
#include "cli/report/html/run_page.h"

#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "archive/history.h"
#include "base/json.h"
#include "base/memory.h"
#include "archive/limiter.h"
#include "cli/report/arm_comparison.h"
#include "cli/shared/run_archive.h"

enum { CHUNK = 100, SHORT_HASH = 16 };
#define SOURCE_CHUNK ((size_t)128 << 10)
#define SOURCE_BUDGET ((size_t)24 << 20)
#define CASE_BUDGET ((size_t)16 << 20) /* measurements of single cases, about 64 bytes each */
#define CALL_CHUNK ((size_t)512 << 10)
#define CALL_BUDGET ((size_t)24 << 20)

/* A candidate whose source may be included. */
typedef struct wish {
   int64_t number;
   double rank; /* smaller ranks come first */
} wish_t;

typedef struct filling {
   rkb_page_t *page;
   rkb_archive_t *archive;
   char *objective;
   json_t *columns, *details; /* details: of the current chunk */
   uint32_t chunk, in_chunk;
   json_t *names[3]; /* operators, standings, reasons: index by name */
   wish_t *wishes;
   uint32_t wish_count;
   size_t case_bytes;
} filling_t;

enum { OPERATORS, STANDINGS, REASONS };
static const char *const name_columns[][2] = {
   {"operator", "operators"}, {"standing", "standings"}, {"reason", "reasons"}};

static void append(filling_t *all, const char *column, json_t *value) {
   json_array_append_new(json_object_get(all->columns, column), value);
}

/* Appends the index of a name, which is added to the list of names when it is new. */
static void append_name(filling_t *all, int which, const char *name) {
   json_t *list = json_object_get(all->columns, name_columns[which][1]), *text = rkb_json_text(name);
   const char *key = json_string_value(text);
   if (!json_object_get(all->names[which], key)) {
      json_object_set_new(all->names[which], key, json_integer((json_int_t)json_array_size(list)));
      json_array_append(list, text);
   }
   append(all, name_columns[which][0],
          json_integer(json_integer_value(json_object_get(all->names[which], key))));
   json_decref(text);
}

static json_t *short_hash(const char *hash) {
   return json_stringn(hash, strnlen(hash, SHORT_HASH));
}

static json_t *parents_of(const rkb_candidate_record_t *candidate) {
   json_t *parents = json_array();
   for (uint32_t i = 0; i < candidate->parent_count; i++)
      if (strcmp(candidate->parents[i].role, "parent") == 0)
         json_array_append_new(parents, json_integer(candidate->parents[i].number));
   return parents;
}

static void add_columns(filling_t *all, const rkb_candidate_record_t *candidate) {
   const json_int_t request =
      candidate->section == RKB_SECTION_PROPOSE ? -(candidate->request + 1) : candidate->request;
   append(all, "number", json_integer(candidate->number));
   append(all, "request", json_integer(request));
   append(all, "duplicate", json_integer(candidate->duplicate_of));
   append(all, "objective",
          candidate->has_objective && isfinite(candidate->objective) ? json_real(candidate->objective)
                                                                     : json_null());
   append(all, "note", rkb_json_text(candidate->note ? candidate->note : ""));
   append(all, "parents", parents_of(candidate));
   append_name(all, OPERATORS, candidate->operator_id);
   append_name(all, STANDINGS, candidate->standing);
   append_name(all, REASONS, candidate->reason);
}

static json_t *verdict_json(const rkb_verdict_record_t *verdict) {
   const bool accepts = strcmp(verdict->standing, RKB_ACCEPT) == 0;
   json_t *evidence = accepts ? NULL : rkb_embedded_json(verdict->evidence);
   return json_pack("{s:o, s:o, s:o, s:o, s:b, s:o}", "stage", rkb_json_text(verdict->stage), "standing",
                    rkb_json_text(verdict->standing), "reason", rkb_json_text(verdict->reason), "message",
                    rkb_json_text(verdict->message), "shadow", verdict->shadow, "evidence",
                    evidence ? evidence : json_null());
}

static json_t *measurements_of(filling_t *all, const rkb_candidate_record_t *candidate) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < candidate->measurement_count; i++) {
      const rkb_measurement_record_t *one = &candidate->measurements[i];
      if (one->case_name) {
         all->case_bytes += 64;
         if (all->case_bytes > CASE_BUDGET)
            continue;
      }
      json_array_append_new(list, json_pack("[o, o, o, o, o]", rkb_json_text(one->name),
                                            rkb_json_text(one->case_name), rkb_json_number(one->value),
                                            rkb_json_text(one->unit),
                                            one->spread >= 0 ? json_real(one->spread) : json_null()));
   }
   return list;
}

static void end_chunk(filling_t *all) {
   if (all->in_chunk == 0)
      return;
   rkb_page_add(all->page, all->details, "details-%u", all->chunk++); /* takes ownership */
   all->details = json_object();
   all->in_chunk = 0;
}

static void add_details(filling_t *all, const rkb_candidate_record_t *candidate) {
   char key[32];
   rkb_limiter_t limiter = {.sentence = ""};
   json_t *verdicts = json_array();
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      json_array_append_new(verdicts, verdict_json(&candidate->verdicts[i]));
   rkb_limiter_of_slowest(candidate->measurements, candidate->measurement_count, all->objective, &limiter);
   json_t *tune = rkb_embedded_json(candidate->tune);
   snprintf(key, sizeof key, "%lld", (long long)candidate->number);
   json_object_set_new(all->details, key,
                       json_pack("{s:o, s:o, s:o, s:o, s:o}", "tune", tune ? tune : json_null(), "limiter",
                                 rkb_json_text(limiter.sentence), "source",
                                 short_hash(candidate->source_hash), "verdicts", verdicts, "measurements",
                                 measurements_of(all, candidate)));
   if (++all->in_chunk == CHUNK)
      end_chunk(all);
}

static double rank_of(const rkb_candidate_record_t *candidate) {
   if (candidate->has_objective && strcmp(candidate->standing, RKB_ACCEPT) == 0)
      return -1 / (1 + fabs(candidate->objective)); /* below 0, ascending with the objective */
   return (double)candidate->number;
}

static int add_candidates(filling_t *all, rkb_error_t *err) {
   int64_t *numbers = NULL;
   uint32_t count = 0;
   int status = rkb_archive_candidates(all->archive, 0, 0, &numbers, &count, err);
   if (status == RKB_OK) {
      all->wishes = rkb_try_allocate((size_t)count + 1, sizeof *all->wishes, err);
      status = all->wishes ? RKB_OK : err->status;
   }
   for (uint32_t i = 0; status == RKB_OK && i < count; i++) {
      rkb_candidate_record_t *candidate = NULL;
      status = rkb_archive_load_candidate(all->archive, numbers[i], &candidate, err);
      if (status == RKB_OK) {
         add_columns(all, candidate);
         add_details(all, candidate);
         all->wishes[all->wish_count++] = (wish_t){candidate->number, rank_of(candidate)};
      }
      rkb_candidate_record_free(candidate);
   }
   end_chunk(all);
   free(numbers);
   return status;
}

static int by_rank(const void *left, const void *right) {
   const wish_t *a = left, *b = right;
   return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank)
                             : (a->number > b->number) - (a->number < b->number);
}

/* Ranks the best candidate's ancestors before all other candidates. */
static void prefer_lineage(filling_t *all, const json_t *report) {
   size_t index;
   const json_t *step;
   json_array_foreach(json_object_get(report, "lineage"), index, step) {
      const int64_t number = json_integer_value(json_object_get(step, "number"));
      const int64_t partner = json_integer_value(json_object_get(step, "partner"));
      for (uint32_t i = 0; i < all->wish_count; i++)
         if (all->wishes[i].number == number || (partner && all->wishes[i].number == partner))
            all->wishes[i].rank = -INFINITY;
   }
   qsort(all->wishes, all->wish_count, sizeof *all->wishes, by_rank);
}

static int add_sources(filling_t *all, const json_t *report, rkb_error_t *err) {
   json_t *chunks = json_object(), *texts = json_object();
   size_t spent = 0, in_chunk = 0;
   uint32_t chunk = 0;
   int status = RKB_OK;
   prefer_lineage(all, report);
   for (uint32_t i = 0; status == RKB_OK && i < all->wish_count && spent < SOURCE_BUDGET; i++) {
      rkb_candidate_record_t *candidate = NULL;
      char key[SHORT_HASH + 1];
      status = rkb_archive_load_candidate(all->archive, all->wishes[i].number, &candidate, err);
      if (status != RKB_OK)
         break;
      snprintf(key, sizeof key, "%s", candidate->source_hash);
      const size_t bytes = strlen(candidate->source);
      if (!json_object_get(chunks, key) && spent + bytes <= SOURCE_BUDGET) {
         if (in_chunk > 0 && in_chunk + bytes > SOURCE_CHUNK) {
            rkb_page_add(all->page, texts, "sources-%u", chunk++); /* takes ownership */
            texts = json_object();
            in_chunk = 0;
         }
         json_object_set_new(chunks, key, json_integer(chunk));
         json_object_set_new(texts, key, rkb_json_text(candidate->source));
         spent += bytes;
         in_chunk += bytes;
      }
      rkb_candidate_record_free(candidate);
   }
   rkb_page_add(all->page, texts, "sources-%u", chunk);
   rkb_page_add(all->page, json_pack("{s:o}", "chunks", chunks), "sources");
   return status;
}

typedef struct conversation {
   rkb_page_t *page;
   json_t *calls, *texts;
   size_t spent, in_chunk;
   uint32_t chunk;
} conversation_t;

static json_t *count_or_null(int64_t count) {
   return count >= 0 ? json_integer(count) : json_null();
}

static int add_call(void *argument, const rkb_call_history_t *call) {
   conversation_t *all = argument;
   const size_t bytes = (call->prompt ? strlen(call->prompt) : 0) + (call->reply ? strlen(call->reply) : 0);
   const bool fits = all->spent + bytes <= CALL_BUDGET;
   if (fits && all->in_chunk > 0 && all->in_chunk + bytes > CALL_CHUNK) {
      rkb_page_add(all->page, all->texts, "calls-%u", all->chunk++);
      all->texts = json_object();
      all->in_chunk = 0;
   }
   json_array_append_new(
      all->calls, json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o, s:o, s:I, s:o}", "id",
                            (json_int_t)call->id, "request", (json_int_t)call->request, "stage",
                            rkb_json_text(call->stage), "model", rkb_json_text(call->model), "state",
                            rkb_json_text(call->state), "source", rkb_json_text(call->source), "outcome",
                            rkb_json_text(call->outcome), "error", rkb_json_text(call->error), "usd",
                            call->usd, "seconds", call->seconds >= 0 ? json_real(call->seconds) : json_null(),
                            "input_tokens", count_or_null(call->input_tokens), "output_tokens",
                            count_or_null(call->output_tokens), "attempt", (json_int_t)call->attempt, "texts",
                            fits ? json_integer(all->chunk) : json_null()));
   if (fits) {
      char key[32];
      snprintf(key, sizeof key, "%lld", (long long)call->id);
      json_object_set_new(
         all->texts, key,
         json_pack("{s:o, s:o}", "prompt", rkb_json_text(call->prompt), "reply", rkb_json_text(call->reply)));
      all->spent += bytes;
      all->in_chunk += bytes;
   }
   return RKB_OK;
}

static int add_calls(filling_t *all, rkb_error_t *err) {
   conversation_t talk = {.page = all->page, .calls = json_array(), .texts = json_object()};
   int status = rkb_archive_each_call(all->archive, add_call, &talk, err);
   rkb_page_add(all->page, talk.texts, "calls-%u", talk.chunk);
   rkb_page_add(all->page, talk.calls, "calls");
   return status;
}

static int add_report(filling_t *all, const char *directory, json_t *report, rkb_error_t *err) {
   rkb_run_series_t series;
   json_t *curves = json_object(), *totals = json_object();
   int status = rkb_run_series_read(directory, NULL, &series, NULL, err);
   for (int over = 0; status == RKB_OK && over < RKB_SPENDINGS; over++) {
      json_object_set_new(curves, rkb_spending_names[over], rkb_steps_json(&series.best[over]));
      json_object_set_new(totals, rkb_spending_names[over],
                          isfinite(series.total[over]) ? json_real(series.total[over]) : json_null());
   }
   if (status == RKB_OK)
      rkb_run_series_clear(&series);
   json_object_set_new(report, "curves", curves);
   json_object_set_new(report, "totals", totals);
   rkb_page_add(all->page, json_incref(report), "report");
   return status;
}

int rkb_run_page_fill(rkb_page_t *page, const char *directory, rkb_archive_t *archive, json_t *report,
                      rkb_error_t *err) {
   filling_t all = {.page = page, .archive = archive, .details = json_object()};
   all.columns = json_pack("{s:i, s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[], s:[]}",
                           "chunk", CHUNK, "number", "request", "duplicate", "objective", "note", "parents",
                           "operator", "operators", "standing", "standings", "reason", "reasons");
   for (int i = 0; i < 3; i++)
      all.names[i] = json_object();
   char *objective = rkb_archive_get_fact(archive, "objective");
   all.objective = objective ? objective : rkb_duplicate("");
   int status = add_report(&all, directory, report, err);
   if (status == RKB_OK)
      status = add_candidates(&all, err);
   if (status == RKB_OK)
      status = add_sources(&all, report, err);
   if (status == RKB_OK)
      status = add_calls(&all, err);
   rkb_page_add(page, json_incref(all.columns), "candidates");
   for (int i = 0; i < 3; i++)
      json_decref(all.names[i]);
   json_decref(all.columns);
   json_decref(all.details);
   free(all.wishes);
   free(all.objective);
   return status;
}
