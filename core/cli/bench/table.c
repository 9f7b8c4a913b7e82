/* Writes the tables.  Every number has its source; a missing number leaves its field empty. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench/bench.h"
#include "cli/run_archive.h"

#define MOST_TABLE (16u << 20)
/* Below this time, a share of the copy depends more on launches than on the kernel (docs/timing.md). */
#define LEAST_COPY_US 20.0
/* If the anchors of a row and of its baselines differ by more than this share, they were not timed under the
 * same conditions. */
#define MOST_DRIFT 0.01
#define RESOLUTION_US 0.5

static double number(const json_t *object, const char *key) {
   const json_t *value = json_object_get(object, key);
   return json_is_number(value) ? json_number_value(value) : NAN;
}

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
         number(json_object_get(json_object_get(record, "baselines"), rkb_bench_variants[v]), "us");
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
   return drifted(number(of_case, "copy_anchor_us"), number(anchors, "copy_us")) ||
          drifted(number(of_case, "chain_anchor_us"), number(anchors, "chain_us"));
}

/* One line of the table as JSON; of_case NULL: the kernel was not timed on it. */
static json_t *line_of(const rkb_bench_t *bench, const rkb_bench_work_t *work, const rkb_case_t *c,
                       const json_t *row, json_t *of_case, json_t *record) {
   const json_t *measured = json_object_get(row, "measured");
   bool memory_bound;
   double ours = number(of_case, "us"), best_us,
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
   put(line, "speedup_low", number(of_best, "low_us") / number(of_case, "high_us"));
   put(line, "speedup_high", number(of_best, "high_us") / number(of_case, "low_us"));
   double copy = number(json_object_get(of_case, "copy"), "us");
   if (copy > LEAST_COPY_US)
      put(line, "share_of_copy", copy / ours);
   else if (isfinite(copy) || ours < LEAST_COPY_US)
      put(line, "above_floor_us", ours - number(of_case, "floor_us"));
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
            put(line, "row_seconds", number(row, "seconds"));
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

static void write_marked(rkb_text_t *out, double value, const char *mark) {
   if (!isfinite(value))
      rkb_text_add(out, " |");
   else
      rkb_text_format(out,
                      value < 100     ? " %.2f%s |"
                      : value < 10000 ? " %.1f%s |"
                                      : " %.0f%s |",
                      value, mark);
}

static void write_number(rkb_text_t *out, double value) {
   write_marked(out, value, "");
}

static const char *text_of(const json_t *object, const char *key, const char *otherwise) {
   const char *text = json_string_value(json_object_get(object, key));
   return text ? text : otherwise;
}

static const char *file_name(const char *path) {
   const char *slash = strrchr(path, '/');
   return slash ? slash + 1 : path;
}

static void write_line(rkb_text_t *out, const json_t *line) {
   const json_t *ours = json_object_get(line, "ours"), *record = json_object_get(line, "record"),
                *baselines = json_object_get(record, "baselines");
   const char *standing = text_of(line, "standing", ""), *kernel = text_of(line, "kernel", "");
   const char *case_name = strchr(text_of(line, "case", "/"), '/');
   rkb_text_format(out, "| %s | %s | %s | %s%s |", text_of(line, "task", ""), text_of(line, "direction", ""),
                   case_name ? case_name + 1 : "", kernel[0] ? file_name(kernel) : "not measured",
                   kernel[0] && !ours ? (strcmp(standing, "accept") ? ": not accepted" : ": no time") : "");
   write_marked(out, number(ours, "us"), strcmp(text_of(ours, "mode", ""), "quick") == 0 ? " q" : "");
   if (ours)
      rkb_text_format(out, " %.2f to %.2f |", number(ours, "low_us"), number(ours, "high_us"));
   else
      rkb_text_add(out, " |");
   for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++) {
      const json_t *timed = json_object_get(baselines, rkb_bench_variants[v]);
      if (json_object_get(timed, "error"))
         rkb_text_add(out, " failed |");
      else
         write_marked(out, number(timed, "us"), json_object_get(timed, "tuning") ? " ‡" : "");
   }
   write_number(out, number(json_object_get(ours, "copy"), "us"));
   write_number(out, number(line, "least_us"));
   if (json_object_get(line, "speedup"))
      rkb_text_format(out, " %.2f (%.2f to %.2f)%s |", number(line, "speedup"), number(line, "speedup_low"),
                      number(line, "speedup_high"),
                      json_is_true(json_object_get(line, "other_conditions")) ? " †" : "");
   else
      rkb_text_add(out, " |");
   if (json_object_get(line, "share_of_copy"))
      rkb_text_format(out, " %.0f %% |", 100 * number(line, "share_of_copy"));
   else if (json_object_get(line, "above_floor_us"))
      rkb_text_format(out, " floor + %.2f |", number(line, "above_floor_us"));
   else
      rkb_text_add(out, " |");
   rkb_text_add(out, "\n");
}

/* A worker's greeting on one line, without the memory that happened to be free. */
static void note_worker(json_t *seen, const char *greeting) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_TABLE);
   for (const char *line = greeting; *line; line += strcspn(line, "\n"), line += *line == '\n')
      if (strncmp(line, "free_bytes=", strlen("free_bytes=")) != 0)
         rkb_text_format(&text, "%s%.*s", line == greeting ? "" : ", ", (int)strcspn(line, "\n"), line);
   json_object_set_new(seen, rkb_text_get(&text), json_true());
   rkb_text_free(&text);
}

/* Writes the conditions ("device=NVIDIA H200" and others), each once. */
static void write_conditions(rkb_text_t *out, const json_t *lines) {
   size_t i;
   const json_t *line;
   json_t *seen = json_object();
   json_array_foreach(lines, i, line) {
      const json_t *record = json_object_get(line, "record");
      const char *worker = text_of(line, "worker", ""), *torch = text_of(record, "torch", "");
      if (worker[0])
         note_worker(seen, worker);
      if (torch[0]) {
         char text[512];
         snprintf(text, sizeof text, "PyTorch %s, driver API %.0f, %s", torch, number(record, "driver"),
                  text_of(record, "device", ""));
         json_object_set_new(seen, text, json_true());
      }
   }
   const char *key;
   json_t *value;
   json_object_foreach(seen, key, value) rkb_text_format(out, "* %s\n", key);
   json_decref(seen);
}

/* Writes how long the rows took, each with all kernels that were tried.  A row that was taken from a run took
 * no time. */
static void write_duration(rkb_text_t *out, const json_t *lines) {
   size_t i, rows = 0;
   const json_t *line;
   double seconds = 0;
   json_array_foreach(lines, i, line) {
      double took = number(line, "row_seconds");
      if (took > 0) {
         seconds += took;
         rows++;
      }
   }
   if (rows)
      rkb_text_format(out, "* %zu rows were checked and timed in %.0f s\n", rows, seconds);
}

/* Writes the kernels that were not accepted, with the data needed to reproduce the reason. */
static void write_refusals(rkb_text_t *out, const json_t *lines) {
   size_t i;
   const json_t *line, *before = NULL;
   json_array_foreach(lines, i, line) {
      const json_t *evidence = json_object_get(line, "evidence");
      if (!evidence || json_equal(evidence, json_object_get(before, "evidence")))
         continue; /* a line of another case says the same already */
      char *text = json_dumps(evidence, JSON_COMPACT | JSON_SORT_KEYS);
      rkb_text_format(out, "* %s %s, %s: %s %s: %s; evidence `%s`\n", text_of(line, "task", ""),
                      text_of(line, "direction", ""), file_name(text_of(line, "kernel", "")),
                      text_of(line, "standing", ""), text_of(line, "reason", ""),
                      text_of(line, "message", ""), text ? text : "");
      free(text);
      before = line;
   }
}

/* Writes the device's state after each row (clocks and others), and how to measure the row again. */
static void write_row_notes(rkb_text_t *out, const json_t *lines) {
   size_t i;
   const json_t *line;
   rkb_text_add(out, "\n## Each row again, and the device's state when it was timed\n\n");
   json_array_foreach(lines, i, line) {
      const json_t *ours = json_object_get(line, "ours");
      const char *state = text_of(ours, "state", "");
      if (!ours)
         continue;
      rkb_text_format(out, "* %s %s %s, %s: `%s`; ", text_of(line, "task", ""),
                      text_of(line, "direction", ""), text_of(line, "case", ""), text_of(line, "date", ""),
                      text_of(line, "command", ""));
      for (const char *at = state; *at; at++)
         rkb_text_append(out, *at == '\n' ? (at[1] ? ", " : "") : at, *at == '\n' ? (at[1] ? 2 : 0) : 1);
      rkb_text_format(out, "; copy anchor %.2f us, chain anchor %.2f us, floor %.2f us\n",
                      number(ours, "copy_anchor_us"), number(ours, "chain_anchor_us"),
                      number(ours, "floor_us"));
   }
}

static void write_table(rkb_text_t *out, const json_t *lines) {
   size_t i;
   const json_t *line;
   rkb_text_add(
      out,
      "# Best kernels against PyTorch\n\n"
      "Microseconds on the device, second-level cache emptied by reading, 20 % trimmed means with 99 % intervals by\n"
      "cluster bootstrap (docs/timing.md). The speed-up is against the fastest PyTorch variant; its interval takes the far\n"
      "ends of both. The copy moves the same bytes in as many launches by the same protocol. †: the baselines were timed\n"
      "under other conditions than the kernel (the anchors differ by more than 1 %). ‡: timed at another time, when\n"
      "torch.compile had chosen kernels that were surely faster. q: timed once, at a search's quick gate, and not\n"
      "measured in full since: a fastest of many is likely timed too fast.\n\n");
   write_conditions(out, lines);
   write_duration(out, lines);
   rkb_text_add(out, "\n| task | direction | case | kernel | ours | interval |");
   for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++)
      rkb_text_format(out, " %s |", rkb_bench_variants[v]);
   rkb_text_add(out, " copy | least possible | speed-up | share of the copy |\n|");
   for (uint32_t column = 0; column < 10 + RKB_BENCH_VARIANTS; column++)
      rkb_text_add(out, "---|");
   rkb_text_add(out, "\n");
   json_array_foreach(lines, i, line) write_line(out, line);
   rkb_text_add(out, "\n");
   write_refusals(out, lines);
   write_row_notes(out, lines);
}

static int save(const rkb_bench_t *bench, const char *name, const char *text, rkb_error_t *err) {
   char *path = rkb_path_join(bench->out, name);
   int status = text ? rkb_file_write(path, text, strlen(text), err) : rkb_fail_memory(err, 0);
   free(path);
   return status;
}

/* Makes the table only from the figures, so that anyone who has the figures can make the whole table. */
int rkb_bench_table_of(const char *path, const char *figures, rkb_text_t *table, rkb_error_t *err) {
   json_t *lines;
   int status = rkb_bench_figures_read(path, figures, &lines, err);
   if (status == RKB_OK)
      write_table(table, lines);
   json_decref(lines);
   return status == RKB_OK && table->cut ? rkb_fail(err, RKB_ERR_LIMIT, "the table is too long") : status;
}

int rkb_bench_tables(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                     rkb_error_t *err) {
   json_t *lines = lines_of(bench, works, count);
   char *json = json_dumps(lines, JSON_INDENT(1) | JSON_SORT_KEYS);
   rkb_text_t table, figures;
   rkb_text_init(&table, MOST_TABLE);
   rkb_text_init(&figures, MOST_TABLE);
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

int rkb_bench_table_from(const char *path, rkb_error_t *err) {
   char *figures = NULL;
   size_t length;
   rkb_text_t table;
   rkb_text_init(&table, MOST_TABLE);
   int status = rkb_file_read(path, MOST_TABLE, &figures, &length, err);
   if (status == RKB_OK)
      status = rkb_bench_table_of(path, figures, &table, err);
   if (status == RKB_OK)
      fputs(rkb_text_get(&table), stdout);
   rkb_text_free(&table);
   free(figures);
   return status;
}
