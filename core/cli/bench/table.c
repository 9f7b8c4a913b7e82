/* The text of the table, from its lines.  A missing number leaves its field empty. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench/bench.h"

double rkb_bench_number(const json_t *object, const char *key) {
   const json_t *value = json_object_get(object, key);
   return json_is_number(value) ? json_number_value(value) : NAN;
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
   write_marked(out, rkb_bench_number(ours, "us"),
                strcmp(text_of(ours, "mode", ""), "quick") == 0 ? " q" : "");
   if (ours)
      rkb_text_format(out, " %.2f to %.2f |", rkb_bench_number(ours, "low_us"),
                      rkb_bench_number(ours, "high_us"));
   else
      rkb_text_add(out, " |");
   for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++) {
      const json_t *timed = json_object_get(baselines, rkb_bench_variants[v]);
      if (json_object_get(timed, "error"))
         rkb_text_add(out, " failed |");
      else
         write_marked(out, rkb_bench_number(timed, "us"), json_object_get(timed, "tuning") ? " ‡" : "");
   }
   write_number(out, rkb_bench_number(json_object_get(ours, "copy"), "us"));
   write_number(out, rkb_bench_number(line, "least_us"));
   if (json_object_get(line, "speedup"))
      rkb_text_format(out, " %.2f (%.2f to %.2f)%s |", rkb_bench_number(line, "speedup"),
                      rkb_bench_number(line, "speedup_low"), rkb_bench_number(line, "speedup_high"),
                      json_is_true(json_object_get(line, "other_conditions")) ? " †" : "");
   else
      rkb_text_add(out, " |");
   if (json_object_get(line, "share_of_copy"))
      rkb_text_format(out, " %.0f %% |", 100 * rkb_bench_number(line, "share_of_copy"));
   else if (json_object_get(line, "above_floor_us"))
      rkb_text_format(out, " floor + %.2f |", rkb_bench_number(line, "above_floor_us"));
   else
      rkb_text_add(out, " |");
   rkb_text_add(out, "\n");
}

/* A worker's greeting on one line, without the memory that happened to be free. */
static void note_worker(json_t *seen, const char *greeting) {
   rkb_text_t text;
   rkb_text_init(&text, RKB_BENCH_MOST_TABLE);
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
         snprintf(text, sizeof text, "PyTorch %s, driver API %.0f, %s", torch,
                  rkb_bench_number(record, "driver"), text_of(record, "device", ""));
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
      double took = rkb_bench_number(line, "row_seconds");
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
                      rkb_bench_number(ours, "copy_anchor_us"), rkb_bench_number(ours, "chain_anchor_us"),
                      rkb_bench_number(ours, "floor_us"));
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

/* Makes the table only from the figures, so that anyone who has the figures can make the whole table. */
int rkb_bench_table_of(const char *path, const char *figures, rkb_text_t *table, rkb_error_t *err) {
   json_t *lines;
   int status = rkb_bench_figures_read(path, figures, &lines, err);
   if (status == RKB_OK)
      write_table(table, lines);
   json_decref(lines);
   return status == RKB_OK && table->cut ? rkb_fail(err, RKB_ERR_LIMIT, "the table is too long") : status;
}

int rkb_bench_table_from(const char *path, rkb_error_t *err) {
   char *figures = NULL;
   size_t length;
   rkb_text_t table;
   rkb_text_init(&table, RKB_BENCH_MOST_TABLE);
   int status = rkb_file_read(path, RKB_BENCH_MOST_TABLE, &figures, &length, err);
   if (status == RKB_OK)
      status = rkb_bench_table_of(path, figures, &table, err);
   if (status == RKB_OK)
      fputs(rkb_text_get(&table), stdout);
   rkb_text_free(&table);
   free(figures);
   return status;
}
