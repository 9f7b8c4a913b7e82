/* Reads and writes rows as files.  Main thread only. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench/bench.h"

#define MOST_FILE (16u << 20)
#define MOST_COMMAND (64u << 10)

static void path_of(const rkb_bench_t *bench, const rkb_bench_work_t *work, char *path, size_t size) {
   snprintf(path, size, "%s/rows/%s.%s.json", bench->out, work->name, work->direction);
}

static json_t *read_json(const char *path) {
   char *text = NULL;
   size_t length = 0;
   rkb_error_t err;
   json_t *value = NULL;
   if (rkb_file_read(path, MOST_FILE, &text, &length, &err) == RKB_OK)
      value = rkb_json_parse(text, length, &err);
   free(text);
   return value;
}

static bool has(const json_t *row, const char *key, const char *value) {
   const char *there = json_string_value(json_object_get(row, key));
   return there && strcmp(there, value) == 0;
}

json_t *rkb_bench_row_read(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                           const rkb_bench_kernels_t *kernels) {
   char path[4096];
   path_of(bench, work, path, sizeof path);
   json_t *row = read_json(path);
   if (row && has(row, "task_hash", rkb_task_hash(work->task)) && has(row, "kernels_hash", kernels->hash))
      return row;
   json_decref(row);
   return NULL;
}

json_t *rkb_bench_record_read(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *case_name) {
   char path[4096];
   const char *slash = strrchr(case_name, '/');
   snprintf(path, sizeof path, "%s/baselines/%s.%s.%s.json", bench->out, work->name, work->direction,
            slash ? slash + 1 : case_name);
   json_t *record = read_json(path);
   if (record && has(record, "hash", rkb_task_hash(work->task)) && has(record, "case", case_name))
      return record;
   json_decref(record);
   return NULL;
}

/* The command that measures this row again, as a user would type it. */
static json_t *command_of(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                          const rkb_bench_kernel_t *kernel) {
   rkb_text_t text;
   rkb_error_t ignored;
   const char *name;
   json_t *value, *tune = kernel->tune ? rkb_json_parse(kernel->tune, strlen(kernel->tune), &ignored) : NULL;
   rkb_text_init(&text, MOST_COMMAND);
   rkb_text_format(&text, "rkb check %s", kernel->path);
   json_object_foreach(tune, name, value)
      rkb_text_format(&text, " --tune %s=%lld", name, (long long)json_integer_value(value));
   rkb_text_format(&text, " --task %s --direction %s --target %s --pipeline %s", work->directory,
                   work->direction, bench->target, bench->pipeline);
   json_t *command = json_string(rkb_text_get(&text));
   rkb_text_free(&text);
   json_decref(tune);
   return command;
}

json_t *rkb_bench_row_new(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                          const rkb_bench_kernels_t *kernels, uint32_t chosen, time_t when, double seconds,
                          json_t *measured, json_t *tried) {
   char date[32];
   strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&when));
   return json_pack("{s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:o}", "task", work->name, "direction",
                    work->direction, "task_hash", rkb_task_hash(work->task), "kernels_hash", kernels->hash,
                    "date", date, "seconds", seconds, "command",
                    command_of(bench, work, &kernels->list[chosen]), "measured", measured, "tried", tried);
}

int rkb_bench_row_make(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                       const rkb_bench_kernels_t *kernels, json_t **row, rkb_error_t *err) {
   json_t *tried = NULL, *measured = NULL;
   uint32_t chosen = 0;
   struct timespec began, ended;
   *row = NULL;
   clock_gettime(CLOCK_MONOTONIC, &began);
   int status = rkb_bench_choose(bench, work, kernels, &chosen, &tried, err);
   if (status == RKB_OK)
      status = rkb_bench_measure(bench, work, &kernels->list[chosen], true, &measured, err);
   clock_gettime(CLOCK_MONOTONIC, &ended);
   if (status != RKB_OK) {
      json_decref(tried);
      return status;
   }
   *row = rkb_bench_row_new(bench, work, kernels, chosen, time(NULL),
                            (double)(ended.tv_sec - began.tv_sec) +
                               1e-9 * (double)(ended.tv_nsec - began.tv_nsec),
                            measured, tried);
   return *row ? RKB_OK : rkb_fail_memory(err, 0);
}

int rkb_bench_row_write(const rkb_bench_t *bench, const rkb_bench_work_t *work, const json_t *row,
                        rkb_error_t *err) {
   char path[4096];
   char *text = json_dumps(row, JSON_INDENT(1) | JSON_SORT_KEYS);
   path_of(bench, work, path, sizeof path);
   int status = text ? rkb_file_write(path, text, strlen(text), err) : rkb_fail_memory(err, 0);
   free(text);
   return status;
}
