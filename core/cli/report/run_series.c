/* Reads the data of a run that a comparison needs, in one pass over its candidates (run_series.h).  The main thread alone. */
#include "cli/report/run_series.h"

#include <math.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>
#include "archive/history.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/shared/run_archive.h"
#include "sweep/cell_state.h"

const char *const rkb_spending_names[RKB_SPENDINGS] = {"evaluations", "seconds", "calls", "usd"};

typedef struct cost {
   int64_t request;
   double usd, answers; /* sums over all requests up to this one */
} cost_t;

typedef struct reading {
   rkb_run_series_t *series;
   json_t *bests; /* [{candidate, elapsed}], in the order in which the candidates became the best; or NULL */
   size_t next_best;
   cost_t *costs;
   uint32_t cost_count, cost_room;
   int64_t evaluations;
} reading_t;

static int add_cost(void *argument, int64_t request, double usd, int64_t answers) {
   reading_t *reading = argument;
   if (reading->cost_count == reading->cost_room) {
      reading->cost_room = reading->cost_room ? 2 * reading->cost_room : 64;
      reading->costs = rkb_grow(reading->costs, reading->cost_room, sizeof *reading->costs);
   }
   const cost_t before = reading->cost_count ? reading->costs[reading->cost_count - 1] : (cost_t){0};
   reading->costs[reading->cost_count++] = (cost_t){request, before.usd + usd, before.answers + (double)answers};
   return RKB_OK;
}

/* The cost of the requests up to this one. */
static cost_t spent_until(const reading_t *reading, int64_t request) {
   uint32_t low = 0, high = reading->cost_count;
   while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (rkb_request_key_compare(reading->costs[middle].request, request) <= 0)
         low = middle + 1;
      else
         high = middle;
   }
   return low ? reading->costs[low - 1] : (cost_t){0};
}

/* When the candidate became the best; NaN when the archive does not say. */
static double elapsed_at(reading_t *reading, int64_t candidate) {
   for (size_t i = reading->next_best; i < json_array_size(reading->bests); i++) {
      const json_t *best = json_array_get(reading->bests, i);
      if (json_integer_value(json_object_get(best, "candidate")) == candidate) {
         reading->next_best = i + 1;
         return json_number_value(json_object_get(best, "elapsed"));
      }
   }
   return NAN;
}

static int add_candidate(void *argument, const rkb_history_record_t *record) {
   reading_t *reading = argument;
   rkb_run_series_t *series = reading->series;
   if (record->duplicate)
      return RKB_OK;
   reading->evaluations++;
   if (!record->has_objective || strcmp(record->standing, RKB_ACCEPT) != 0 ||
       (!isnan(series->value) && record->objective >= series->value))
      return RKB_OK;
   const double elapsed = elapsed_at(reading, record->number);
   series->value = record->objective;
   if (isnan(series->first) || record->request < 0)
      series->first = record->objective;
   rkb_step_curve_add(&series->best[RKB_OVER_EVALUATIONS], (double)reading->evaluations, record->objective);
   const cost_t spent = spent_until(reading, record->request);
   rkb_step_curve_add(&series->best[RKB_OVER_CALLS], spent.answers, record->objective);
   rkb_step_curve_add(&series->best[RKB_OVER_DOLLARS], spent.usd, record->objective);
   if (!isnan(elapsed))
      rkb_step_curve_add(&series->best[RKB_OVER_SECONDS], elapsed, record->objective);
   return RKB_OK;
}

static char *fact(rkb_archive_t *archive, const char *key) {
   char *value = rkb_archive_get_fact(archive, key);
   return value ? value : rkb_duplicate("");
}

static char *read_subject(rkb_archive_t *archive) {
   char *task = fact(archive, "task"), *direction = fact(archive, "direction"),
        *target = fact(archive, "target");
   char *subject = task[0] ? rkb_format("%s %s%s%s", task, direction, target[0] ? " on " : "", target)
                           : rkb_duplicate("no task");
   free(task);
   free(direction);
   free(target);
   return subject;
}

static void read_facts(rkb_archive_t *archive, const char *directory, const char *arm,
                       rkb_run_series_t *series) {
   int64_t seed = 0;
   char *text = fact(archive, "seed");
   rkb_parse_int(text, &seed);
   free(text);
   *series = (rkb_run_series_t){.directory = rkb_duplicate(directory),
                                .arm = arm ? rkb_duplicate(arm) : fact(archive, "name"),
                                .subject = read_subject(archive),
                                .objective = fact(archive, "objective"),
                                .seed = (uint64_t)seed,
                                .value = NAN,
                                .first = NAN};
}

static int read_unit(rkb_archive_t *archive, int64_t best, rkb_run_series_t *series, rkb_error_t *err) {
   rkb_candidate_record_t *candidate = NULL;
   if (best == 0) {
      series->unit = rkb_duplicate("");
      return RKB_OK;
   }
   int status = rkb_archive_load_candidate(archive, best, &candidate, err);
   if (status == RKB_OK)
      series->unit = rkb_duplicate(rkb_objective_unit(candidate, series->objective));
   rkb_candidate_record_free(candidate);
   return status;
}

static int read_curves(rkb_archive_t *archive, rkb_run_series_t *series, rkb_error_t *err) {
   rkb_error_t parsed;
   char *text = rkb_archive_get_fact(archive, "times");
   json_t *times = text ? rkb_json_parse(text, strlen(text), &parsed) : NULL;
   const json_t *elapsed = json_object_get(times, "elapsed");
   reading_t reading = {.series = series, .bests = json_object_get(times, "bests")};
   int status = rkb_archive_each_cost(archive, add_cost, &reading, err);
   if (status == RKB_OK)
      status = rkb_archive_each_history(archive, add_candidate, &reading, err);
   series->total[RKB_OVER_EVALUATIONS] = (double)reading.evaluations;
   series->total[RKB_OVER_SECONDS] = json_is_number(elapsed) ? json_number_value(elapsed) : NAN;
   const cost_t spent = reading.cost_count ? reading.costs[reading.cost_count - 1] : (cost_t){0};
   series->total[RKB_OVER_CALLS] = spent.answers;
   series->total[RKB_OVER_DOLLARS] = spent.usd;
   free(reading.costs);
   json_decref(times);
   free(text);
   return status;
}

int rkb_run_series_read(const char *directory, const char *arm, rkb_run_series_t *series, const char **why,
                        rkb_error_t *err) {
   rkb_cell_look_t look;
   rkb_archive_t *archive = NULL;
   int status = rkb_cell_state(directory, &look, err);
   if (why)
      *why = NULL;
   if (status == RKB_OK && why && look.state != RKB_CELL_ENDED) {
      *why = look.state == RKB_CELL_WAITING ? "it has not begun" : "it has not ended";
      return RKB_OK;
   }
   if (status == RKB_OK)
      status = rkb_archive_open(directory, &archive, err);
   if (status != RKB_OK)
      return status;
   read_facts(archive, directory, arm, series);
   status = read_unit(archive, look.best, series, err);
   if (status == RKB_OK)
      status = read_curves(archive, series, err);
   rkb_archive_close(archive);
   if (status != RKB_OK)
      rkb_run_series_clear(series);
   return status;
}

void rkb_run_series_clear(rkb_run_series_t *series) {
   for (int i = 0; i < RKB_SPENDINGS; i++)
      rkb_step_curve_free(&series->best[i]);
   free(series->directory);
   free(series->arm);
   free(series->subject);
   free(series->objective);
   free(series->unit);
   *series = (rkb_run_series_t){0};
}
