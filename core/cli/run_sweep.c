/* Runs sweeps for rkb-run (run_sweep.h).  The main thread alone. */
#include "cli/run_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/shared/run_archive.h"
#include "cli/run_directory.h"
#include "sweep/cell_state.h"
#include "sweep/sweep_run.h"
#include "system/loop.h"

enum { MAX_AT_ONCE = 256 };

typedef struct showing {
   const rkb_sweep_t *sweep;
   bool quiet;
   uint64_t began_ns;
   uint32_t ended_before; /* number of cells that had ended before this process */
   bool counted;
} showing_t;

/* Estimates the time for the cells that are left from the cells that this process ran; "" before one has
 * ended. */
static void spell_rest(const showing_t *showing, const rkb_sweep_event_t *event, char *out, size_t size) {
   const uint32_t done = event->ended - showing->ended_before;
   const double spent = (double)(rkb_now_ns() - showing->began_ns);
   char time[32];
   out[0] = '\0';
   if (done == 0 || event->left + event->running == 0)
      return;
   rkb_format_duration((uint64_t)(spent / done * (event->left + event->running)), time, sizeof time);
   snprintf(out, size, "; about %s left", time);
}

static void show_ended(const showing_t *showing, const rkb_sweep_event_t *event) {
   char time[32], rest[64], best[64] = "nothing accepted";
   rkb_format_duration((uint64_t)(event->seconds * 1e9), time, sizeof time);
   spell_rest(showing, event, rest, sizeof rest);
   if (event->look->best > 0)
      snprintf(best, sizeof best, "best %.6g", event->look->value);
   fprintf(stderr, "[%u of %u] %s: %s, %lld candidates in %s%s\n", event->ended, showing->sweep->count,
           showing->sweep->cells[event->cell].name, best, (long long)event->look->candidates, time, rest);
}

/* Whether a line is a cell's advice "continue with: ...", which is wrong for a user who runs the whole sweep. */
static bool is_advice(const char *line) {
   return strncmp(line, "continue with:", 14) == 0 || strncmp(line, "finished results are stored;", 28) == 0;
}

static void show(void *argument, const rkb_sweep_event_t *event) {
   showing_t *showing = argument;
   const char *name = showing->sweep->cells[event->cell].name;
   if (!showing->counted) { /* the first event comes before any cell of this process has ended */
      showing->counted = true;
      showing->ended_before = event->ended;
   }
   const char *on = event->where[0] ? " on " : "";
   switch (event->kind) {
   case RKB_SWEEP_STARTED:
   case RKB_SWEEP_CONTINUED:
      if (!showing->quiet)
         fprintf(stderr, "%s %s%s%s\n", event->kind == RKB_SWEEP_STARTED ? "begins" : "goes on:", name, on, event->where);
      break;
   case RKB_SWEEP_ENDED:
      if (!showing->quiet)
         show_ended(showing, event);
      break;
   case RKB_SWEEP_CUT:
      if (!showing->quiet)
         fprintf(stderr, "cut short: %s\n", name);
      break;
   case RKB_SWEEP_WAITING:
      fprintf(stderr, "waits: a process of an earlier call still ends %s\n", name);
      break;
   case RKB_SWEEP_FAILED:
      fprintf(stderr, "failed: %s%s%s: %s\n", name, on, event->where, event->text);
      break;
   case RKB_SWEEP_LOST:
      fprintf(stderr, "lost, and started again: %s%s%s: %s\n", name, on, event->where, event->text);
      break;
   case RKB_SWEEP_REMOVED:
      fprintf(stderr, "removed from the queue, and left: %s%s%s\n", name, on, event->where);
      break;
   case RKB_SWEEP_TROUBLE:
      fprintf(stderr, "%s\n", event->text);
      break;
   case RKB_SWEEP_SAID:
      if (!is_advice(event->text))
         fprintf(stderr, "%s: %s\n", name, event->text);
      break;
   case RKB_SWEEP_STOPPING:
      fprintf(stderr,
              "interrupted; ending when the running cells have ended, at once when interrupted again\n");
      break;
   }
}

static int print_result(const rkb_arguments_t *arguments, const rkb_sweep_t *sweep,
                        const rkb_sweep_result_t *result, double seconds) {
   char time[32];
   if (rkb_argument_given(arguments, "json"))
      return rkb_print_json(json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:f}", "sweep", sweep->directory,
                                      "cells", (json_int_t)sweep->count, "ended", (json_int_t)result->ended,
                                      "failed", (json_int_t)result->failed, "left", (json_int_t)result->left,
                                      "interrupted", result->interrupted, "seconds", seconds));
   rkb_format_duration((uint64_t)(seconds * 1e9), time, sizeof time);
   printf("%u of %u cells ended", result->ended, sweep->count);
   if (result->failed)
      printf(", %u failed", result->failed);
   printf("; this took %s\nsweep: %s\n", time, sweep->directory);
   return RKB_EXIT_OK;
}

/* Prints the result of a run that another machine ran, from its archive. */
static int print_alone(const rkb_arguments_t *arguments, const rkb_sweep_t *sweep, const rkb_sweep_result_t *result,
                       double seconds) {
   rkb_cell_look_t look;
   rkb_error_t err;
   if (rkb_cell_state(sweep->directory, &look, &err) != RKB_OK)
      return rkb_say_error(&err);
   const int code = result->ended && look.best == 0 ? RKB_EXIT_NOTHING : RKB_EXIT_OK;
   if (rkb_argument_given(arguments, "json")) {
      int printed = rkb_print_json(json_pack("{s:s, s:b, s:s, s:I, s:o, s:I, s:I, s:f}", "run", sweep->directory, "ended",
                                             result->ended > 0, "reason", look.ended, "best", (json_int_t)look.best, "value",
                                             look.best ? rkb_json_number(look.value) : json_null(), "candidates",
                                             (json_int_t)look.candidates, "accepted", (json_int_t)look.accepted, "seconds", seconds));
      return printed == RKB_EXIT_OK ? code : printed;
   }
   if (look.best > 0)
      printf("best: candidate %lld, %.6g\n", (long long)look.best, look.value);
   printf("%lld candidates, %lld accepted\n%s%s%srun: %s\n", (long long)look.candidates, (long long)look.accepted,
          look.ended[0] ? "ended: " : "", look.ended, look.ended[0] ? "\n" : "", sweep->directory);
   return code;
}

static int read_at_once(const rkb_arguments_t *arguments, uint32_t *at_once) {
   const char *text = rkb_argument(arguments, "cells");
   int64_t value = 0; /* what is usual there */
   if (text && (!rkb_parse_int(text, &value) || value < 1 || value > MAX_AT_ONCE)) {
      fprintf(stderr, "--cells wants a number from 1 to %d, not '%s'\n", MAX_AT_ONCE, text);
      return RKB_EXIT_USAGE;
   }
   *at_once = (uint32_t)value;
   return RKB_EXIT_OK;
}

/* Reports options that have no effect at the cells' destination, instead of ignoring them. */
static int read_destination(const rkb_arguments_t *arguments, rkb_destination_t *destination) {
   rkb_error_t err;
   if (rkb_destination_read(rkb_argument(arguments, "on"), destination, &err) != RKB_OK) {
      rkb_say_error(&err);
      return RKB_EXIT_USAGE;
   }
   if (destination->operations->queues)
      return RKB_EXIT_OK;
   static const char *const of_queues[] = {"sbatch", "detach"};
   for (size_t i = 0; i < sizeof of_queues / sizeof *of_queues; i++)
      if (rkb_argument_given(arguments, of_queues[i])) {
         fprintf(stderr, "--%s is for --on slurm\n", of_queues[i]);
         rkb_destination_free(destination);
         return RKB_EXIT_USAGE;
      }
   return RKB_EXIT_OK;
}

static void say_next(const rkb_arguments_t *arguments, const rkb_sweep_t *sweep, const rkb_sweep_result_t *result, bool quiet) {
   const char *on = rkb_argument(arguments, "on");
   if (result->detached)
      fprintf(stderr, "%u of %u are in the queue; gather them with: rkb-run --resume %s --on %s\n", result->left, sweep->count,
              sweep->directory, on);
   else if (result->left || result->failed)
      fprintf(stderr, "continue with: rkb-run --resume %s%s%s\n", sweep->directory, on ? " --on " : "", on ? on : "");
   else if (!quiet)
      fprintf(stderr, "%s: rkb report %s\n", sweep->alone ? "what happened" : "compare", sweep->directory);
}

static int run_on(const rkb_arguments_t *arguments, const rkb_sweep_t *sweep, uint32_t at_once, const rkb_destination_t *destination) {
   const char *jobs = rkb_argument(arguments, "jobs");
   int64_t threads = 0;
   showing_t showing = {.sweep = sweep,
                        .quiet =
                           rkb_argument_given(arguments, "quiet") || rkb_argument_given(arguments, "json"),
                        .began_ns = rkb_now_ns()};
   char *program = realpath("/proc/self/exe", NULL);
   rkb_sweep_result_t result;
   rkb_error_t err;
   if (!program || (jobs && !rkb_parse_int(jobs, &threads))) { /* jobs was checked with the command line */
      free(program);
      fprintf(stderr, "cannot find the program that runs: /proc/self/exe leads nowhere\n");
      return RKB_EXIT_BROKEN;
   }
   const rkb_sweep_options_t options = {.program = program,
                                        .version = "rkb-run " RKB_VERSION,
                                        .destination = destination,
                                        .slurm_options = rkb_argument_list(arguments, "sbatch"),
                                        .detach = rkb_argument_given(arguments, "detach"),
                                        .plugin_paths = rkb_argument_list(arguments, "plugin-path"),
                                        .at_once = at_once < sweep->count ? at_once : sweep->count,
                                        .jobs = (uint32_t)threads,
                                        .observe = show,
                                        .argument = &showing};
   int status = rkb_sweep_run(sweep, &options, &result, &err);
   free(program);
   if (status != RKB_OK) {
      const int code = rkb_say_error(&err);
      if (!destination->operations->here)
         say_next(arguments, sweep, &result, showing.quiet);
      return code;
   }
   const double seconds = (double)(rkb_now_ns() - showing.began_ns) * 1e-9;
   int code = result.detached ? RKB_EXIT_OK
              : sweep->alone  ? print_alone(arguments, sweep, &result, seconds)
                              : print_result(arguments, sweep, &result, seconds);
   fflush(stdout);
   say_next(arguments, sweep, &result, showing.quiet);
   if (code != RKB_EXIT_OK)
      return code;
   return result.interrupted ? RKB_EXIT_INTERRUPTED : result.failed ? RKB_EXIT_BROKEN : RKB_EXIT_OK;
}

/* On another machine the directory has the same absolute path, and the queue identifies the job by that path. */
static char *directory_for(const rkb_destination_t *destination, const char *directory) {
   char *whole = destination->operations->here ? NULL : realpath(directory, NULL);
   return whole ? whole : rkb_duplicate(directory);
}

static int make_plan(const rkb_arguments_t *arguments, const rkb_pipeline_t *pipeline, const char *directory,
                     const rkb_secret_t *secret, rkb_sweep_t **sweep, rkb_error_t *err) {
   rkb_secret_t drawn;
   int status = secret ? RKB_OK : rkb_secret_draw(&drawn, err);
   if (status != RKB_OK)
      return status;
   if (rkb_argument_given(arguments, "sweep"))
      return rkb_sweep_make(pipeline, directory, secret ? secret : &drawn, sweep, err);
   return rkb_sweep_alone(rkb_pipeline_name(pipeline), pipeline, directory, secret ? secret : &drawn, sweep, err);
}

static int make_and_run(const rkb_arguments_t *arguments, const rkb_pipeline_t *pipeline, const rkb_secret_t *secret,
                        uint32_t at_once, const rkb_destination_t *destination) {
   rkb_run_directory_t directory;
   rkb_sweep_t *sweep = NULL;
   rkb_error_t err;
   int status =
      rkb_run_directory_new(rkb_argument(arguments, "out"), rkb_pipeline_name(pipeline), &directory, &err);
   if (status == RKB_OK) {
      char *whole = directory_for(destination, directory.path);
      status = make_plan(arguments, pipeline, whole, secret, &sweep, &err);
      free(whole);
   }
   int code = status == RKB_OK ? run_on(arguments, sweep, at_once, destination) : rkb_say_error(&err);
   if (status != RKB_OK)
      rkb_run_directory_take_back(&directory);
   rkb_sweep_free(sweep);
   rkb_run_directory_free(&directory);
   return code;
}

int rkb_run_new_sweep(const rkb_arguments_t *arguments, const rkb_pipeline_t *pipeline,
                      const rkb_secret_t *secret) {
   rkb_destination_t destination;
   uint32_t at_once;
   const bool sweep = rkb_argument_given(arguments, "sweep");
   if (sweep && rkb_pipeline_cell_count(pipeline) == 0) {
      fprintf(stderr, "%s is one run: a sweep has seeds:, arms: or matrix: ('rkb help pipeline')\n",
              rkb_pipeline_path(pipeline));
      return RKB_EXIT_USAGE;
   }
   if (read_at_once(arguments, &at_once) != RKB_EXIT_OK || read_destination(arguments, &destination) != RKB_EXIT_OK)
      return RKB_EXIT_USAGE;
   int code = make_and_run(arguments, pipeline, secret, at_once, &destination);
   rkb_destination_free(&destination);
   return code;
}

/* Refuses options that would change the cells' pipelines, which the plan fixes, instead of ignoring them. */
static int refuse_changes(const rkb_arguments_t *arguments) {
   static const char *const fixed[] = {"task", "direction", "target", "set", "out", "secret"};
   for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
      if (rkb_argument_given(arguments, fixed[i])) {
         fprintf(stderr, "--%s cannot change a sweep that has begun; leave it out, or begin another sweep\n",
                 fixed[i]);
         return RKB_EXIT_USAGE;
      }
   return RKB_EXIT_OK;
}

int rkb_run_old_sweep(const rkb_arguments_t *arguments, const char *directory) {
   rkb_sweep_t *sweep = NULL;
   rkb_destination_t destination;
   rkb_error_t err;
   uint32_t at_once;
   if (refuse_changes(arguments) != RKB_EXIT_OK || read_at_once(arguments, &at_once) != RKB_EXIT_OK ||
       read_destination(arguments, &destination) != RKB_EXIT_OK)
      return RKB_EXIT_USAGE;
   char *whole = directory_for(&destination, directory);
   int status = rkb_is_sweep(whole) ? rkb_sweep_open(whole, &sweep, &err)
                                    : rkb_sweep_alone("the run", NULL, whole, NULL, &sweep, &err);
   int code = status == RKB_OK ? run_on(arguments, sweep, at_once, &destination) : rkb_say_error(&err);
   rkb_sweep_free(sweep);
   rkb_destination_free(&destination);
   free(whole);
   return code;
}
