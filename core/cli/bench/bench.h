/* Shared by the files of `rkb bench`.  A row is one task in one direction: its best kernel, checked and timed in full on every bench
 * case.  Rows and baselines are files, so a bench can be stopped and continued.  Main thread only. */
#ifndef RKB_CLI_BENCH_BENCH_H
#define RKB_CLI_BENCH_BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <time.h>
#include "cli/shared/arguments.h"
#include "run/check_candidate.h"
#include "archive/archive.h"
#include "base/hash.h"
#include "system/pipe_process.h"
#include "task/listing.h"
#include "task/task.h"

enum {
   RKB_BENCH_MOST_WORKS = 512,
   RKB_BENCH_MOST_KERNELS = 64,
   RKB_BENCH_PROCESSES = 2,
   RKB_BENCH_VARIANTS = 6
};
extern const char *const rkb_bench_variants[RKB_BENCH_VARIANTS]; /* PyTorch's variants; figures_file.c */

typedef struct rkb_bench {
   const rkb_arguments_t *arguments;
   const char *out;            /* rows/, baselines/, table.md, table.json, figures.tsv */
   char *pipeline;             /* the pipeline that measures; owned */
   const char *target;         /* name of the device profile */
   rkb_secret_t secret;        /* key of the samples that checks draw; each row stores it */
   rkb_peaks_t least; /* borrows its name from the profile */
   rkb_log_t *log;
   struct rkb_devices
      *devices; /* one worker for all kernels; NULL: each kernel opens its own and reports what is wrong */
   struct rkb_baselines *baselines; /* NULL: fill the columns from earlier records */
   struct rkb_background *ahead;         /* NULL: evaluate expected values only when a row needs them */
} rkb_bench_t;

/* One task in one direction. */
typedef struct rkb_bench_work {
   char *directory;              /* directory of the task; owned */
   rkb_task_t *task;             /* owned */
   const char *name, *direction; /* the task's name and direction */
} rkb_bench_work_t;

/* measured_directions.c: the works of the tasks that the arguments name, or of all shipped tasks.  If the arguments name a direction, only this one.
 * Returns an exit code.  The works must be closed even after an error. */
typedef struct rkb_bench_works {
   rkb_bench_work_t list[RKB_BENCH_MOST_WORKS];
   uint32_t count;
} rkb_bench_works_t;
int rkb_bench_works_find(const rkb_arguments_t *arguments, rkb_bench_works_t *works,
                         rkb_problems_t *problems);
void rkb_bench_works_close(rkb_bench_works_t *works); /* frees what the works own */

/* A kernel file, and the tune values with which it is measured. */
typedef struct rkb_bench_kernel {
   char *path; /* owned */
   char *tune; /* JSON object that names every parameter, owned; NULL: the file's own defaults */
} rkb_bench_kernel_t;
/* bench_kernel.c: the file's text with the tune values as its defaults; malloc'd. */
int rkb_bench_kernel_text(const rkb_bench_kernel_t *kernel, char **text, rkb_error_t *err);
void rkb_bench_kernel_free(rkb_bench_kernel_t *kernel); /* frees what the kernel owns */

/* best_file.c: reads the seed and the tune values that best/<direction>.yaml names (docs/task-format.md).  path is NULL when there is
 * no such file.  The error names file, line and column. */
int rkb_bench_best_read(const rkb_bench_work_t *work, rkb_bench_kernel_t *kernel, rkb_error_t *err);

/* row_kernels.c: the kernels of a work, sorted by name: best/<direction>/ *.cu, best/<direction>.yaml and seeds/<direction>/ *.cu.
 * A text that occurs twice counts once. */
typedef struct rkb_bench_kernels {
   rkb_bench_kernel_t list[RKB_BENCH_MOST_KERNELS];
   uint32_t count;
   char hash[RKB_HASH_TEXT]; /* hash of all their texts */
} rkb_bench_kernels_t;
int rkb_bench_kernels_find(const rkb_bench_work_t *work, rkb_bench_kernels_t *kernels, rkb_error_t *err);
void rkb_bench_kernels_free(rkb_bench_kernels_t *kernels);

/* measure_kernel.c: checks and times one kernel; full: with the precision of a publication, otherwise as a quick gate.  *result is {"kernel",
 * "standing", "reason", "message", "tune", "us" (absent without a time), "worker", "cases": {name: {...}}}; the caller owns it. */
int rkb_bench_measure(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                      const rkb_bench_kernel_t *kernel, bool full, json_t **result, rkb_error_t *err);
/* Builds the same object step by step: first without measurements and verdicts; then each of them is added. */
json_t *rkb_bench_measured(const char *path, const char *standing, const char *reason, const char *tune);
void rkb_bench_add_measurement(json_t *measured, const rkb_measurement_record_t *measurement);
void rkb_bench_add_verdict(json_t *measured, const rkb_verdict_record_t *verdict);
/* kernel_choice.c: chooses the fastest accepted kernel.  If there are several, times them with the quick
 * gate.  If the gate cannot tell kernels apart, times those in full.  *tried lists the kernels in the order
 * in which they were measured, without cases and worker, with "full_us" for those timed in full; the caller
 * owns it, also after an error. */
int rkb_bench_choose(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                     const rkb_bench_kernels_t *kernels, uint32_t *chosen, json_t **tried, rkb_error_t *err);

/* row_file.c.  read: NULL when there is no row, or the row belongs to another task or to other kernels. */
json_t *rkb_bench_row_read(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                           const rkb_bench_kernels_t *kernels);
int rkb_bench_row_make(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                       const rkb_bench_kernels_t *kernels, json_t **row, rkb_error_t *err);
int rkb_bench_row_write(const rkb_bench_t *bench, const rkb_bench_work_t *work, const json_t *row,
                        rkb_error_t *err);
/* Makes a row for kernels->list[chosen] from measurements made elsewhere.  Takes ownership of measured and tried. */
json_t *rkb_bench_row_new(const rkb_bench_t *bench, const rkb_bench_work_t *work,
                          const rkb_bench_kernels_t *kernels, uint32_t chosen, time_t when, double seconds,
                          json_t *measured, json_t *tried);
/* row_from_archive.c: makes a row from the best candidate of a finished run, as its stages timed it.  A kernel file of the work must be that
 * candidate; otherwise RKB_ERR_INVALID. */
int rkb_bench_row_from_run(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                           const char *directory, rkb_error_t *err);
/* The recorded baselines of a case; owned, NULL when there are none. */
json_t *rkb_bench_record_read(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *case_name);

/* baselines.c: processes that time PyTorch, alternating with the worker's two sittings: process 0, worker, worker, process 1. */
typedef struct rkb_baselines rkb_baselines_t;
/* RKB_ERR_UNAVAILABLE, with the reason, when PyTorch or the timing library is missing. */
int rkb_baselines_open(const char *out, rkb_baselines_t **baselines, rkb_error_t *err);
void rkb_baselines_close(rkb_baselines_t *baselines);
/* Makes the missing choices of torch.compile in one process.  Nothing else should run meanwhile. */
int rkb_baselines_choose(rkb_baselines_t *baselines, const rkb_bench_work_t *work, const char *variants,
                         rkb_error_t *err);
/* Compiles and captures every variant ("eager,compile") in both processes. */
int rkb_baselines_prepare(rkb_baselines_t *baselines, const rkb_bench_work_t *work, const char *variants,
                          rkb_error_t *err);
/* Times the prepared variants in process 0 or 1. */
int rkb_baselines_time(rkb_baselines_t *baselines, uint32_t process, rkb_error_t *err);
const char *rkb_baselines_torch(const rkb_baselines_t *baselines); /* the version of PyTorch */

/* expected_in_background.c: evaluates, in child processes in the background, the expected values of later works. */
typedef struct rkb_background rkb_background_t;
/* works are in the order in which they will be measured; measured[i] true: skip works[i].  The caller keeps
 * owning both, and must keep them until close. */
int rkb_background_open(const rkb_bench_t *bench, const rkb_bench_work_t *const *works, const bool *measured,
                   uint32_t count, rkb_background_t **ahead, rkb_error_t *err);
/* Kills running children; stored results stay.  All functions here accept NULL. */
void rkb_background_close(rkb_background_t *ahead);
/* Returns when works[work] is evaluated.  If its evaluation has not begun, returns at once, and it will not be evaluated ahead.
 * RKB_ERR_CANCELLED after an interrupt or a request to end. */
int rkb_background_wait(rkb_background_t *ahead, uint32_t work, rkb_error_t *err);
/* Pauses the evaluation during a timing that should have the machine to itself. */
void rkb_background_pause(rkb_background_t *ahead, bool pause);

/* table_lines.c: writes table.md, table.json and figures.tsv from the rows that exist. */
int rkb_bench_tables(const rkb_bench_t *bench, const rkb_bench_work_t *works, uint32_t count,
                     rkb_error_t *err);
/* table.c: writes the same table.md from a figures.tsv: from its text (path is then a name for messages), or from the file to standard output. */
int rkb_bench_table_of(const char *path, const char *figures, rkb_text_t *table, rkb_error_t *err);
int rkb_bench_table_from(const char *figures, rkb_error_t *err);
double rkb_bench_number(const json_t *object, const char *key); /* NaN where there is none */
#define RKB_BENCH_MOST_TABLE (16u << 20)                        /* bytes of the table, and of its figures */

/* figures_file.c: writes the lines of table.json as tab-separated text, and reads them back.  The caller owns lines; NULL after an error,
 * which names the file and the line. */
void rkb_bench_figures_write(const json_t *lines, rkb_text_t *out);
int rkb_bench_figures_read(const char *path, const char *text, json_t **lines, rkb_error_t *err);

#endif
