/* Makes the lines of the table from the rows and the records of baselines.  Every number names its source. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench/bench.h"
#include "cli/shared/run_archive.h"

/* Below this time, a share of the copy depends more on launches than on the kernel (docs/timing.md). */
#define LEAST_COPY_US 20.0
/* If the anchors of a row and of its baselines differ by more than this share, they were not timed under the
 * same conditions. */
#define MOST_DRIFT 0.01
#define RESOLUTION_US 0.5

static void put(json_t *object, const char *key, double value) {
   if (isfinite(value))
      json_object_set_new(object, key, json_real(value));
}

/* The fastest variant of PyTorch, because beating a slower one would mean nothing. */
static const char *best_of(const json_t *record, double *us) {
   const char *best = NULL;
   *us = NAN;
   for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++) {
      double here =
         rkb_bench_number(json_object_get(json_object_get(record, "baselines"), rkb_bench_variants[v]), "us");
      if (isfinite(here) && !(here >= *us)) {
         *us = here;
         best = rkb_bench_variants[v];
      }
   }
   return best;
}

static bool drifted(double a, double b) {
   return isfinite(a) && isfinite(b) && fabs(a - b) > MOST_DRIFT * b + RESOLUTION_US / 2;
}

/* The newest part of a tuning; without a tuning, the part that was timed last. */
static const json_t *newest_part(const json_t *record, const json_t *tuning) {
   size_t i;
   const json_t *part, *newest = NULL;
   json_array_foreach(json_object_get(record, "parts"), i, part) {
      if (json_equal(json_object_get(part, "tuning"), tuning) ||
          (!tuning && !json_object_get(part, "tuning")))
         newest = part;
   }
   return newest;
}

/* Whether the anchors of the best baseline's part show another device speed than the row's anchors. */
static bool other_conditions(const json_t *of_case, const json_t *record, const json_t *of_best) {
   const json_t *anchors =
      json_object_get(newest_part(record, json_object_get(of_best, "tuning")), "anchors");
   return drifted(rkb_bench_number(of_case, "copy_anchor_us"), rkb_bench_number(anchors, "copy_us")) ||
          drifted(rkb_bench_number(of_case, "chain_anchor_us"), rkb_bench_number(anchors, "chain_us"));
}

/* One line of the table as JSON; of_case NULL: the kernel was not timed on it. */
static json_t *line_of(const rkb_bench_t *bench, const rkb_bench_work_t *work, const rkb_case_t *c,
                       const json_t *row, json_t *of_case, json_t *record) {
   const json_t *measured = json_object_get(row, "measured");
   bool memory_bound;
   double ours = rkb_bench_number(of_case, "us"), best_us,
          least = 1e6 * rkb_least_time(c->operations, c->bytes, &bench->least,
                                       rkb_task_info(work->task)->precision, &memory_bound);
   const char *best = best_of(record, &best_us);
   const json_t *of_best = best ? json_object_get(json_object_get(record, "baselines"), best) : NULL;
   json_t *line = json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:s}", "task", work->name, "direction",
                            work->direction, "case", c->name, "operations", c->operations, "bytes", c->bytes,
                            "least_us", least, "least_by", memory_bound ? "memory" : "arithmetic");
   if (row)
      json_object_set(line, "date", json_object_get(row, "date"));
   if (row)
      json_object_set(line, "command", json_object_get(row, "command"));
   static const char *const of_row[] = {"kernel",  "tune",     "standing", "reason",
                                        "message", "evidence", "worker"};
   for (size_t i = 0; measured && i < sizeof of_row / sizeof *of_row; i++)
      if (json_object_get(measured, of_row[i]))
         json_object_set(line, of_row[i], json_object_get(measured, of_row[i]));
   if (of_case)
      json_object_set(line, "ours", of_case);
   if (record)
      json_object_set(line, "record", record);
   if (best)
      json_object_set_new(line, "best", json_string(best));
   put(line, "speedup", best_us / ours);
   put(line, "speedup_low", rkb_bench_number(of_best, "low_us") / rkb_bench_number(of_case, "high_us"));
   put(line, "speedup_high", rkb_bench_number(of_best, "high_us") / rkb_bench_number(of_case, "low_us"));
   double copy = rkb_bench_number(json_object_get(of_case, "copy"), "us");
   if (copy > LEAST_COPY_US)
      put(line, "share_of_copy", copy / ours);
   else if (isfinite(copy) || ours < LEAST_COPY_US)
      put(line, "above_floor_us", ours - rkb_bench_number(of_case, "floor_us"));
   if (of_case && record)
      json_object_set_new(line, "other_conditions", json_boolean(other_conditions(of_case, record, of_best)));
   return line;
}

/* The other kernels that were tried, without the durations of each step. */
static json_t *tried_of(const json_t *row) {
   static const char *const kept[] = {"kernel", "tune", "standing", "reason", "us", "full_us"};
   json_t *out = json_array();
   size_t i;
   const json_t *one;
   json_array_foreach(json_object_get(row, "tried"), i, one) {
      json_t *short_one = json_object();
      for (size_t k = 0; k < sizeof kept / sizeof *kept; k++)
         if (json_object_get(one, kept[k]))
            json_object_set(short_one, kept[k], json_object_get(one, kept[k]));
      json_array_append_new(out, short_one);
   }
   return out;
}

static json_t *lines_of(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count) {
   json_t *lines = json_array();
   const rkb_case_t *c;
   for (uint32_t w = 0; w < count; w++) {
      rkb_bench_kernels_t kernels;
      rkb_error_t err;
      json_t *row = NULL;
      if (rkb_bench_kernels_find(&works[w], &kernels, &err) == RKB_OK)
         row = rkb_bench_row_read(bench, &works[w], &kernels);
      else
         rkb_say_error(&err);
      json_t *cases = json_object_get(json_object_get(row, "measured"), "cases");
      for (uint32_t i = 0; (c = rkb_task_case(works[w].task, RKB_CASE_BENCH, i)) != NULL; i++) {
         json_t *record = rkb_bench_record_read(bench, &works[w], c->name);
         json_t *line = line_of(bench, &works[w], c, row, json_object_get(cases, c->name), record);
         if (i == 0 && row) {
            put(line, "row_seconds", rkb_bench_number(row, "seconds"));
            json_object_set_new(line, "tried", tried_of(row));
         }
         json_array_append_new(lines, line);
         json_decref(record);
      }
      rkb_bench_kernels_free(&kernels);
      json_decref(row);
   }
   return lines;
}

static int save(const rkb_bench_t *bench, const char *name, const char *text, rkb_error_t *err) {
   char *path = rkb_path_join(bench->out, name);
   int status = text ? rkb_file_write(path, text, strlen(text), err) : rkb_fail_memory(err, 0);
   free(path);
   return status;
}

int rkb_bench_tables(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                     rkb_error_t *err) {
   json_t *lines = lines_of(bench, works, count);
   char *json = json_dumps(lines, JSON_INDENT(1) | JSON_SORT_KEYS);
   rkb_text_t table, figures;
   rkb_text_init(&table, RKB_BENCH_MOST_TABLE);
   rkb_text_init(&figures, RKB_BENCH_MOST_TABLE);
   rkb_bench_figures_write(lines, &figures);
   int status = figures.cut ? rkb_fail(err, RKB_ERR_LIMIT, "there are too many figures")
                            : rkb_bench_table_of("figures.tsv", rkb_text_get(&figures), &table, err);
   if (status == RKB_OK)
      status = save(bench, "table.md", rkb_text_get(&table), err);
   if (status == RKB_OK)
      status = save(bench, "figures.tsv", rkb_text_get(&figures), err);
   if (status == RKB_OK)
      status = save(bench, "table.json", json, err);
   if (status == RKB_OK)
      fputs(rkb_text_get(&table), stdout);
   rkb_text_free(&figures);
   rkb_text_free(&table);
   free(json);
   json_decref(lines);
   return status;
}
