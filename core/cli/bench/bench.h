/* What the files of `rkb bench` share.  A row is one task in one direction: its best kernel, checked and timed in full, with
 * every bench case.  Rows and baselines are files, so that a bench can be stopped and continued.  The main thread alone. */
#ifndef RKB_CLI_BENCH_BENCH_H
#define RKB_CLI_BENCH_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>
#include "cli/arguments.h"
#include "run/check.h"
#include "archive/archive.h"
#include "base/hash.h"
#include "system/peer.h"
#include "task/listing.h"
#include "task/task.h"

enum { RKB_BENCH_MOST_KERNELS = 64, RKB_BENCH_PROCESSES = 2, RKB_BENCH_VARIANTS = 6 };
extern const char *const rkb_bench_variants[RKB_BENCH_VARIANTS]; /* of PyTorch; table.c */

typedef struct rkb_bench {
   const rkb_arguments_t *arguments;
   const char *out;            /* rows/, baselines/, table.md, table.json, figures.tsv */
   char *pipeline;             /* that measures; owned */
   const char *target;         /* device profile */
   rkb_listing_target_t least; /* borrows its name from the profile */
   rkb_log_t *log;
   struct rkb_devices
      *devices; /* one worker for all kernels; NULL: each opens its own, and says what is wrong */
   struct rkb_baselines *baselines; /* NULL: columns are filled from what was recorded before */
   struct rkb_ahead *ahead;         /* NULL: a row evaluates what it needs when it needs it */
} rkb_bench_t;

/* One task in one direction. */
typedef struct rkb_bench_work {
   char *directory;              /* of the task; owned */
   rkb_task_t *task;             /* owned */
   const char *name, *direction; /* the task's */
} rkb_bench_work_t;

/* A kernel file, and the tune values it is measured with. */
typedef struct rkb_bench_kernel {
   char *path; /* owned */
   char *tune; /* JSON object that names every parameter, owned; NULL: the file's own defaults */
} rkb_bench_kernel_t;
/* The file's text with the tune values written in as its defaults; malloc'd. */
int rkb_bench_kernel_text(const rkb_bench_kernel_t *kernel, char **text, rkb_error_t *err);
void rkb_bench_kernel_free(rkb_bench_kernel_t *kernel); /* what it owns */

/* best_file.c: the seed and the tune values that best/<direction>.yaml names (docs/task-format.md); a NULL path when there is no
 * such file.  The error names file, line and column. */
int rkb_bench_best_read(const rkb_bench_work_t *work, rkb_bench_kernel_t *kernel, rkb_error_t *err);

/* row_kernels.c: the kernels of a work: best/<direction>/ *.cu, best/<direction>.yaml and seeds/<direction>/ *.cu, by name;
 * a text that is there twice counts once. */
typedef struct rkb_bench_kernels {
   rkb_bench_kernel_t list[RKB_BENCH_MOST_KERNELS];
   uint32_t count;
   char hash[RKB_HASH_TEXT]; /* of all their texts */
} rkb_bench_kernels_t;
int rkb_bench_kernels_find(const rkb_bench_work_t *work, rkb_bench_kernels_t *kernels, rkb_error_t *err);
void rkb_bench_kernels_free(rkb_bench_kernels_t *kernels);

/* measure.c: checks and times one kernel.  full: as for publication, otherwise the quick gate.  *result: {"kernel", "standing",
 * "reason", "message", "tune", "us" (absent without a time), "worker", "cases": {name: {...}}}; owned. */
int rkb_bench_measure(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                      const rkb_bench_kernel_t *kernel, bool full, json_t **result, rkb_error_t *err);
/* The same object from its parts: without measurements and verdicts, then each of them, of whatever name. */
json_t *rkb_bench_measured(const char *path, const char *standing, const char *reason, const char *tune);
void rkb_bench_add_measurement(json_t *measured, const rkb_measurement_record_t *measurement);
void rkb_bench_add_verdict(json_t *measured, const rkb_verdict_record_t *verdict);
/* kernel_choice.c: the fastest accepted of the kernels, by the quick gate when there are several, and in full where that does not tell them
 * apart.  *tried: as measured, without cases and worker, in the kernels' order; "full_us" where measured in full; owned, also after
 * an error. */
int rkb_bench_choose(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                     const rkb_bench_kernels_t *kernels, uint32_t *chosen, json_t **tried, rkb_error_t *err);

/* row.c.  read: NULL when there is none, or one of another task or other kernels. */
json_t *rkb_bench_row_read(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                           const rkb_bench_kernels_t *kernels);
int rkb_bench_row_make(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                       const rkb_bench_kernels_t *kernels, json_t **row, rkb_error_t *err);
int rkb_bench_row_write(const rkb_bench_t *bench, const rkb_bench_work_t *work, const json_t *row,
                        rkb_error_t *err);
/* A row of kernels->list[chosen] from measurements made elsewhere; takes measured and tried over. */
json_t *rkb_bench_row_new(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                          const rkb_bench_kernels_t *kernels, uint32_t chosen, time_t when, double seconds,
                          json_t *measured, json_t *tried);
/* run_row.c: the best candidate of a finished run, as its stages timed it there, becomes the row of its task and direction when
 * a kernel file of the work is that candidate; RKB_ERR_INVALID otherwise. */
int rkb_bench_row_from_run(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                           const char *directory, rkb_error_t *err);
/* The recorded baselines of a case; owned, NULL when there are none. */
json_t *rkb_bench_record_read(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *case_name);

/* baselines.c: processes that time PyTorch, in turns with the worker: A (first process) B B (the worker's two) A (second). */
typedef struct rkb_baselines rkb_baselines_t;
/* RKB_ERR_UNAVAILABLE with the reason where PyTorch or the timing library is missing. */
int rkb_baselines_open(const char *out, rkb_baselines_t **baselines, rkb_error_t *err);
void rkb_baselines_close(rkb_baselines_t *baselines);
/* Makes what torch.compile's choices are missing, in one process: nothing else should run meanwhile. */
int rkb_baselines_choose(rkb_baselines_t *baselines, const rkb_bench_work_t *work, const char *variants,
                         rkb_error_t *err);
/* Compiles and captures every variant ("eager,compile") in both processes. */
int rkb_baselines_prepare(rkb_baselines_t *baselines, const rkb_bench_work_t *work, const char *variants,
                          rkb_error_t *err);
/* Times what is prepared in process 0 or 1. */
int rkb_baselines_time(rkb_baselines_t *baselines, uint32_t process, rkb_error_t *err);
const char *rkb_baselines_torch(const rkb_baselines_t *baselines); /* its version */

/* expected_ahead.c: evaluates in the background what the works' outputs will be compared with, in child processes. */
typedef struct rkb_ahead rkb_ahead_t;
/* works, in the order they will be measured, and what measured says of each need not be looked at, are the caller's until close. */
int rkb_ahead_open(const rkb_bench_t *bench, const rkb_bench_work_t *const *works, const bool *measured,
                   uint32_t count, rkb_ahead_t **ahead, rkb_error_t *err);
/* Kills what still runs; what it had kept stays.  NULL is accepted, here and below. */
void rkb_ahead_close(rkb_ahead_t *ahead);
/* Returns when works[work] is evaluated, or was not begun: it is then no longer evaluated ahead.  RKB_ERR_CANCELLED after an
 * interrupt or a request to end. */
int rkb_ahead_wait(rkb_ahead_t *ahead, uint32_t work, rkb_error_t *err);
/* Stops it while something is timed that should have the machine to itself. */
void rkb_ahead_pause(rkb_ahead_t *ahead, bool pause);

/* table.c: table.md, table.json and figures.tsv from the rows of all works, as far as there are any. */
int rkb_bench_tables(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                     rkb_error_t *err);
/* The same table.md from a figures.tsv: from its text (path is a name for messages), or from the file to standard output. */
int rkb_bench_table_of(const char *path, const char *figures, rkb_text_t *table, rkb_error_t *err);
int rkb_bench_table_from(const char *figures, rkb_error_t *err);

/* figures.c: the lines of table.json as tab-separated text, and back; lines: owned, NULL after an error, which names the file and
 * the line. */
void rkb_bench_figures_write(const json_t *lines, rkb_text_t *out);
int rkb_bench_figures_read(const char *path, const char *text, json_t **lines, rkb_error_t *err);

#endif
