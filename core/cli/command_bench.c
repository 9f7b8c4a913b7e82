/* rkb bench: compares the best kernel of each task and direction with PyTorch, with a tuned copy and with the
 * least possible time.  Measurements are stored in files, so that a bench can be stopped and continued.  The
 * main thread becomes the engine's loop for each kernel. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/bench/bench.h"
#include "cli/commands.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/run_archive.h"
#include "cli/shared/secret_argument.h"
#include "kernel/kernel.h"
#include "gpu/devices.h"

static const char every_variant[] = "eager,eager_graph,compile,compile_graph,max_autotune,max_autotune_graph";

/* Whether a baseline of some case is missing, or was taken with another PyTorch. */
static bool wants_baselines(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *variants) {
   const rkb_case_t *c;
   bool wants = false;
   for (uint32_t i = 0; !wants && (c = rkb_task_case(work->task, RKB_CASE_BENCH, i)) != NULL; i++) {
      json_t *record = rkb_bench_record_read(bench, work, c->name);
      const char *torch = json_string_value(json_object_get(record, "torch"));
      wants = !torch || strcmp(torch, rkb_baselines_torch(bench->baselines)) != 0;
      for (const char *at = variants; *at && !wants;) {
         char name[64];
         size_t length = strcspn(at, ",");
         snprintf(name, sizeof name, "%.*s", (int)length, at);
         wants = !json_object_get(json_object_get(record, "baselines"), name);
         at += length + (at[length] == ',');
      }
      json_decref(record);
   }
   return wants;
}

/* Times the baselines while nothing else runs, as for kernels. */
static int time_baselines(const rkb_bench_t *bench, uint32_t process, rkb_error_t *err) {
   rkb_background_pause(bench->ahead, true);
   int status = rkb_baselines_time(bench->baselines, process, err);
   rkb_background_pause(bench->ahead, false);
   return status;
}

/* Makes the choices first, while nothing else runs.  Then loads them, in parallel with the evaluation of
 * expected values. */
static int prepare_baselines(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *variants,
                             rkb_error_t *err) {
   rkb_background_pause(bench->ahead, true);
   int status = rkb_baselines_choose(bench->baselines, work, variants, err);
   rkb_background_pause(bench->ahead, false);
   return status == RKB_OK ? rkb_baselines_prepare(bench->baselines, work, variants, err) : status;
}

/* Measures in the order A B B A: a PyTorch process, the worker's two processes, the other PyTorch process.
 * If the baselines are known, B B. */
static int measure(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *variants,
                   const rkb_bench_kernels_t *kernels, json_t **row, rkb_error_t *err) {
   bool alternate = bench->baselines && wants_baselines(bench, work, variants);
   int status = alternate ? prepare_baselines(bench, work, variants, err) : RKB_OK;
   if (alternate && status == RKB_OK)
      status = time_baselines(bench, 0, err);
   if (status == RKB_OK)
      status = rkb_bench_row_make(bench, work, kernels, row, err);
   if (alternate && status == RKB_OK)
      status = time_baselines(bench, 1, err);
   return status;
}

/* Whether no measurement of a work is missing. */
static bool is_done(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *variants) {
   rkb_bench_kernels_t kernels;
   rkb_error_t ignored;
   if (rkb_argument_given(bench->arguments, "again") ||
       rkb_bench_kernels_find(work, &kernels, &ignored) != RKB_OK)
      return false;
   json_t *row = rkb_bench_row_read(bench, work, &kernels);
   const bool done = row && !(bench->baselines && wants_baselines(bench, work, variants));
   json_decref(row);
   rkb_bench_kernels_free(&kernels);
   return done;
}

static int do_work(const rkb_bench_t *bench, const rkb_bench_work_t *work, const char *variants,
                   rkb_error_t *err) {
   rkb_bench_kernels_t kernels;
   json_t *row = NULL;
   int status = rkb_bench_kernels_find(work, &kernels, err);
   if (status == RKB_OK)
      status = measure(bench, work, variants, &kernels, &row, err);
   if (status == RKB_OK)
      status = rkb_bench_row_write(bench, work, row, err);
   const json_t *measured = json_object_get(row, "measured"), *us = json_object_get(measured, "us");
   if (status == RKB_OK) {
      fprintf(stderr, "%s %s: %s", work->name, work->direction,
              json_string_value(json_object_get(measured, "standing")));
      if (us)
         fprintf(stderr, ", %.2f us", json_number_value(us));
      fprintf(stderr, ", %.1f s\n", json_number_value(json_object_get(row, "seconds")));
   }
   json_decref(row);
   rkb_bench_kernels_free(&kernels);
   return status;
}

static double seconds_now(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The arithmetic of a work's reference, which is the largest part of a row's time. */
static double cost_of(const rkb_bench_work_t *work) {
   const rkb_case_t *c;
   double operations = 0;
   for (uint32_t i = 0; (c = rkb_task_case(work->task, RKB_CASE_BENCH, i)) != NULL; i++)
      operations += c->operations;
   return operations;
}

static int by_cost(const void *a, const void *b) {
   const rkb_bench_work_t *left = *(const rkb_bench_work_t *const *)a,
                          *right = *(const rkb_bench_work_t *const *)b;
   const double difference = cost_of(left) - cost_of(right);
   return difference != 0 ? (difference > 0) - (difference < 0) : (left > right) - (left < right);
}

/* The works that are left, light ones first, always in the same order.  While they are measured, the others'
 * expected values are evaluated. */
typedef struct queue {
   const rkb_bench_work_t *works[RKB_BENCH_MOST_WORKS];
   bool done[RKB_BENCH_MOST_WORKS];
   uint32_t count;
} queue_t;

static void fill_queue(const rkb_bench_t *bench, const rkb_bench_works_t *works, const char *variants,
                       queue_t *queue) {
   *queue = (queue_t){.count = works->count};
   for (uint32_t i = 0; i < works->count; i++)
      queue->works[i] = &works->list[i];
   qsort(queue->works, queue->count, sizeof *queue->works, by_cost);
   for (uint32_t i = 0; i < queue->count; i++)
      queue->done[i] = is_done(bench, queue->works[i], variants);
}

/* *open counts the works that failed or were left when the time was up.  A failure is printed, and the other
 * works continue. */
static int do_queue(const rkb_bench_t *bench, const queue_t *queue, const char *variants, uint32_t *open,
                    rkb_error_t *err) {
   const char *until = rkb_argument(bench->arguments, "seconds");
   const double end = until ? seconds_now() + strtod(until, NULL) : 0;
   for (uint32_t i = 0; i < queue->count; i++) {
      if (queue->done[i])
         continue;
      if (end > 0 && seconds_now() > end) {
         for (; i < queue->count; i++)
            *open += !queue->done[i];
         return RKB_OK;
      }
      int status = rkb_background_wait(bench->ahead, i, err);
      if (status == RKB_OK)
         status = do_work(bench, queue->works[i], variants, err);
      if (status == RKB_ERR_CANCELLED || (status != RKB_OK && *open == i))
         return status; /* no work has succeeded so far, so the machine is at fault, not the kernel */
      if (status != RKB_OK) {
         fprintf(stderr, "%s %s: ", queue->works[i]->name, queue->works[i]->direction);
         rkb_say_error(err);
         (*open)++;
      }
   }
   return RKB_OK;
}

static int do_works(rkb_bench_t *bench, const rkb_bench_works_t *works, uint32_t *open, rkb_error_t *err) {
   const char *chosen = rkb_argument(bench->arguments, "variants"),
              *variants = chosen ? chosen : every_variant;
   rkb_error_t why = {0};
   queue_t *queue = rkb_allocate(1, sizeof *queue);
   *open = 0;
   if (rkb_devices_open(NULL, 1, &bench->devices, &why) != RKB_OK)
      bench->devices = NULL;
   const bool with_baselines = !rkb_argument_given(bench->arguments, "no-baselines");
   if (with_baselines && getenv("RKB_WORKER"))
      fprintf(
         stderr,
         "no baseline is timed, because PyTorch would run on this machine while kernels run where RKB_WORKER says\n");
   else if (with_baselines && rkb_baselines_open(bench->out, &bench->baselines, &why) != RKB_OK)
      fprintf(stderr, "no baseline is timed: %s\n", why.message);
   fill_queue(bench, works, variants, queue);
   /* Without a device nothing is compared by default; a pipeline that the user names may compare something
    * else. */
   if (bench->devices && !rkb_argument_given(bench->arguments, "pipeline") &&
       rkb_background_open(bench, queue->works, queue->done, queue->count, &bench->ahead, &why) != RKB_OK)
      fprintf(stderr, "nothing is evaluated ahead: %s\n", why.message);
   int status = do_queue(bench, queue, variants, open, err);
   rkb_background_close(bench->ahead);
   bench->ahead = NULL;
   free(queue);
   return status;
}

static int make_folders(const char *out, rkb_error_t *err) {
   static const char *const folders[] = {"rows", "baselines"};
   int status = RKB_OK;
   for (size_t i = 0; i < sizeof folders / sizeof *folders && status == RKB_OK; i++) {
      char *path = rkb_path_join(out, folders[i]);
      status = rkb_make_directories(path, err);
      free(path);
   }
   return status;
}

static int bench_all(rkb_bench_t *bench, const rkb_bench_works_t *works) {
   rkb_error_t err = {0};
   uint32_t open = 0;
   const char *const *runs = rkb_argument_list(bench->arguments, "run");
   if (make_folders(bench->out, &err) != RKB_OK) {
      rkb_say_error(&err);
      return RKB_EXIT_USAGE;
   }
   int status = RKB_OK;
   for (; runs && *runs && status == RKB_OK; runs++)
      status = rkb_bench_row_from_run(bench, works->list, works->count, *runs, &err);
   if (status == RKB_OK && !rkb_argument_given(bench->arguments, "table") &&
       !rkb_argument_given(bench->arguments, "run"))
      status = do_works(bench, works, &open, &err);
   int code = status == RKB_OK ? RKB_EXIT_OK : rkb_say_error(&err);
   if (status == RKB_ERR_CANCELLED)
      code = RKB_EXIT_INTERRUPTED;
   /* Writes the table of the existing rows, even after an error. */
   if (rkb_bench_tables(bench, works->list, works->count, &err) != RKB_OK)
      code = rkb_say_error(&err);
   if (open)
      fprintf(stderr, "%u rows are left; run the same command again to continue\n", open);
   return open && code == RKB_EXIT_OK ? RKB_EXIT_INTERRUPTED : code;
}

/* Checks the arguments as far as possible before anything is written. */
static bool arguments_fit(const rkb_arguments_t *arguments) {
   const char *seconds = rkb_argument(arguments, "seconds"), *pipeline = rkb_argument(arguments, "pipeline");
   char *end = NULL;
   if (seconds && (!(strtod(seconds, &end) > 0) || *end)) {
      fprintf(stderr, "--seconds wants a number above 0, not '%s'\n", seconds);
      return false;
   }
   if (pipeline && access(pipeline, R_OK) != 0) {
      fprintf(stderr, "cannot open %s: %s\n", pipeline, strerror(errno));
      return false;
   }
   return true;
}

static int show_figures(const char *path) {
   rkb_error_t err;
   if (rkb_bench_table_from(path, &err) == RKB_OK)
      return RKB_EXIT_OK;
   return rkb_say_error(&err);
}

static int run(const rkb_arguments_t *arguments) {
   if (!arguments_fit(arguments))
      return RKB_EXIT_USAGE;
   if (rkb_argument(arguments, "figures"))
      return show_figures(rkb_argument(arguments, "figures"));
   const char *out = rkb_argument(arguments, "out"), *target = rkb_argument(arguments, "target"),
              *pipeline = rkb_argument(arguments, "pipeline");
   rkb_bench_works_t *works = rkb_allocate(1, sizeof *works);
   rkb_problems_t problems;
   rkb_error_t err;
   int code = RKB_EXIT_USAGE;
   rkb_problems_init(&problems);
   rkb_bench_t bench = {.arguments = arguments,
                        .out = out ? out : "bench",
                        .pipeline =
                           pipeline ? rkb_duplicate(pipeline) : rkb_find_data("pipelines/remeasure.yaml"),
                        .target = target ? target : "h200"};
   const rkb_secret_t *given;
   if (rkb_secret_argument(arguments, &bench.secret, &given) != RKB_EXIT_OK)
      goto free_works;
   if (!given && rkb_secret_draw(&bench.secret, &err) != RKB_OK) {
      code = rkb_say_error(&err);
      goto free_works;
   }
   rkb_device_t *device = rkb_device_load(bench.target, &problems);
   if (!bench.pipeline)
      fprintf(stderr, "pipelines/remeasure.yaml is not installed; name a pipeline with --pipeline FILE\n");
   if (device && bench.pipeline) {
      bench.least = rkb_peaks_of(device);
      code = rkb_bench_works_find(arguments, works, &problems);
   }
   rkb_say_problems(&problems);
   if (code == RKB_EXIT_OK && rkb_log_open(RKB_LOG_WARN, false, NULL, &bench.log, &err) != RKB_OK)
      code = rkb_say_error(&err);
   else if (code == RKB_EXIT_OK)
      code = bench_all(&bench, works);
   rkb_baselines_close(bench.baselines);
   rkb_devices_close(bench.devices);
   if (bench.log)
      rkb_log_close(bench.log);
   rkb_bench_works_close(works);
   rkb_device_free(device);
free_works:
   free(bench.pipeline);
   free(works);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"task", "DIR",
    "A task directory or a shipped one's name; may be repeated (default: all that are installed).", true},
   {"direction", "D", "forward or backward (default: all that a task has).", false},
   {"out", "DIR", "Where to put rows, baselines and tables (default: bench).", false},
   {"seconds", "N", "Start nothing new after this many seconds.", false},
   {"variants", "A,B", "The PyTorch variants to time (default: all six).", false},
   {"no-baselines", NULL, "Time no PyTorch; show what was recorded before.", false},
   {"again", NULL, "Measure rows again even if they exist.", false},
   {"run", "DIR",
    "Measure nothing; take the row from a run's best candidate, as its gate timed it; may be repeated.",
    true},
   {"table", NULL, "Measure nothing; write the tables from existing rows.", false},
   {"figures", "FILE", "Measure nothing; print the table from the figures.tsv of an earlier bench.", false},
   {"pipeline", "FILE", "The screen that checks and times (default: the shipped remeasure.yaml).", false},
   {"target", "PROFILE", "The device profile to build for and to compute with (default: h200).", false},
   RKB_SECRET_OPTION,
   {"plugin-path", "PATH", "Look for plugins in this file or directory too.", true},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_bench = {
   .name = "bench",
   .arguments = "",
   .summary = "Time the best kernel of every task against PyTorch on this machine's GPU.",
   .details =
      "For each task and direction, checks the fastest kernel of best/ and seeds/ and times it in full: cold and warm,\n"
      "with a tuned copy and two anchors beside it.  If PyTorch finds the GPU, it is timed in turns with the kernel: eager,\n"
      "torch.compile and max-autotune, each also under a CUDA graph.  These times are stored by task, direction, case,\n"
      "PyTorch, driver and device, and are not measured again.  Writes table.md, table.json and figures.tsv (the table's\n"
      "figures without their samples) to --out and prints table.md.  You can stop at any time; the same command continues.\n"
      "Exit: 0 all rows are there, 2 usage, 3 no GPU or a broken tool, 130 rows are left.\n",
   .options = options,
   .least = 0,
   .most = 0,
   .run = run,
};
