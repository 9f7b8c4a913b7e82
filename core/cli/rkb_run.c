/* rkb-run: runs a pipeline to an ending, or resumes an interrupted run.  The main thread becomes the engine's
 * loop.  This file owns the run's directory name, the log and the progress display. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/shipped_files.h"
#include "base/units.h"
#include "cli/shared/arguments.h"
#include "cli/shared/plugin_sandbox.h"
#include "cli/crash_report.h"
#include "cli/dry_run.h"
#include "cli/shared/run_result.h"
#include "cli/shared/pipeline_file.h"
#include "cli/progress.h"
#include "cli/shared/run_archive.h"
#include "cli/run_cell.h"
#include "cli/run_directory.h"
#include "cli/run_sweep.h"
#include "cli/shared/secret_argument.h"
#include "sweep/sweep_plan.h"

enum { MAX_JOBS = 1024 };

typedef struct command_line {
   const char *resume;  /* directory, or NULL */
   const char *library; /* folder of elites, or NULL */
   char *pipeline_path; /* owned */
   int64_t jobs;
   rkb_secret_t secret;
   const rkb_secret_t *given_secret; /* or NULL */
   const char *const *skip; /* NULL-terminated, or NULL */
   bool quiet, json, until_input_ends;
} command_line_t;

static bool holds_a_run(const char *directory) {
   char *path = rkb_run_path_pipeline(directory);
   bool holds = path && rkb_path_exists(path);
   if (!holds && errno == EACCES) {
      fprintf(stderr, "cannot look into %s: %s\n", directory, strerror(errno));
   } else if (!holds) {
      char *hint = rkb_path_exists(directory) ? NULL : rkb_shipped_hint("runs", directory);
      fprintf(stderr, "%s holds no run: there is no pipeline.yaml in it%s\n", directory, hint ? hint : "");
      free(hint);
   }
   free(path);
   return holds;
}

/* Whether the command is a sweep, or runs on other machines. */
static bool is_placed(const rkb_arguments_t *arguments) {
   const char *on = rkb_argument(arguments, "on");
   return on && strcmp(on, "local") != 0;
}

static int read_command_line(const rkb_arguments_t *arguments, command_line_t *line) {
   const char *jobs = rkb_argument(arguments, "jobs");
   const char *pipeline = rkb_positional(arguments, 0);
   *line = (command_line_t){.resume = rkb_argument(arguments, "resume"),
                            .library = rkb_argument(arguments, "library"),
                            .skip = rkb_argument_list(arguments, "skip-stage"),
                            .quiet = rkb_argument_given(arguments, "quiet"),
                            .json = rkb_argument_given(arguments, "json"),
                            .until_input_ends = rkb_argument_given(arguments, "until-input-ends")};
   if (jobs && (!rkb_parse_int(jobs, &line->jobs) || line->jobs < 1 || line->jobs > MAX_JOBS)) {
      fprintf(stderr, "--jobs wants a number from 1 to %d, not '%s'\n", MAX_JOBS, jobs);
      return RKB_EXIT_USAGE;
   }
   if (!pipeline && !line->resume) {
      fprintf(stderr, "rkb-run needs a pipeline file, or --resume DIR; see 'rkb-run --help'\n");
      return RKB_EXIT_USAGE;
   }
   if (line->resume && rkb_argument_given(arguments, "out")) {
      fprintf(stderr, "--resume continues in the run's own directory; leave out --out\n");
      return RKB_EXIT_USAGE;
   }
   if (rkb_argument_given(arguments, "skip-stage") && (!line->resume || rkb_is_sweep(line->resume))) {
      fprintf(stderr, "--skip-stage goes with --resume DIR of one run; for a new run take the stage out of the pipeline\n");
      return RKB_EXIT_USAGE;
   }
   if (line->library && (rkb_argument_given(arguments, "sweep") || rkb_argument_given(arguments, "cell") || is_placed(arguments) ||
                         (line->resume && rkb_is_sweep(line->resume)))) {
      fprintf(stderr, "--library goes with one run on this machine; the runs of a sweep are compared, so none may learn from another\n");
      return RKB_EXIT_USAGE;
   }
   if (rkb_argument_given(arguments, "cell") && (!line->resume || !rkb_is_sweep(line->resume))) {
      fprintf(stderr, "--cell names a cell of a sweep that was planned: rkb-run --resume DIR --cell N\n");
      return RKB_EXIT_USAGE;
   }
   if (line->resume && !rkb_is_sweep(line->resume) && !holds_a_run(line->resume))
      return RKB_EXIT_USAGE;
   if (rkb_secret_argument(arguments, &line->secret, &line->given_secret) != RKB_EXIT_OK)
      return RKB_EXIT_USAGE;
   line->pipeline_path = pipeline ? rkb_duplicate(pipeline) : rkb_run_path_pipeline(line->resume);
   return RKB_EXIT_OK;
}

/* Chooses the run's directory: the one to resume, the one named, or a new one below runs/. */
static int choose_directory(const rkb_arguments_t *arguments, const command_line_t *line, const char *name,
                            rkb_run_directory_t *directory) {
   rkb_error_t err;
   if (rkb_run_directory_new(line->resume ? line->resume : rkb_argument(arguments, "out"), name, directory,
                             &err) == RKB_OK)
      return RKB_EXIT_OK;
   rkb_say_error(&err);
   rkb_run_directory_take_back(directory);
   return RKB_EXIT_USAGE;
}

static rkb_log_t *open_log(const command_line_t *line, const char *directory) {
   rkb_error_t err;
   rkb_log_t *log = NULL;
   char *path = rkb_run_path_log(directory);
   if (rkb_log_open(line->quiet ? RKB_LOG_ERROR : RKB_LOG_WARN, line->json, path, &log, &err) != RKB_OK) {
      rkb_say_error(&err);
      log = NULL;
   }
   free(path);
   return log;
}

static int print_result(const command_line_t *line, const rkb_run_result_t *outcome, const char *objective,
                        const char *directory) {
   int code = rkb_run_result_exit(outcome);
   if (line->json) {
      int printed = rkb_print_outcome_json(outcome, objective, directory);
      if (printed != RKB_EXIT_OK)
         return printed;
   } else {
      rkb_print_outcome(outcome, objective, directory);
      if (!line->given_secret && !line->resume)
         rkb_print_secret(&outcome->secret);
   }
   fflush(stdout);
   if (!line->quiet && !line->json)
      rkb_print_next_steps(outcome, directory);
   else if (rkb_run_result_resumable(outcome))
      fprintf(stderr, "continue with: rkb-run --resume %s\n", directory);
   return code;
}

/* Leaves the process without cleanup when a job hangs in a thread, because that job may use anything. */
static void leave_if_hung(const rkb_run_result_t *outcome, int code) {
   if (!outcome->must_exit_hard)
      return;
   fflush(NULL);
   _exit(code);
}

static int run_in(rkb_pipeline_t *pipeline, const command_line_t *line, const rkb_run_directory_t *directory,
                  rkb_log_t *log) {
   const rkb_pipeline_facts_t facts = rkb_pipeline_facts(pipeline);
   const char *objective = facts.objective[0] ? facts.objective : "objective";
   rkb_run_result_t outcome = {.ending = 0};
   rkb_error_t err = {.message = ""};
   rkb_progress_t *progress = NULL;
   int status, code;
   bool shown = !line->quiet && !line->json;
   if (shown)
      progress = rkb_progress_new(isatty(STDERR_FILENO), objective, &facts, log);
   const rkb_run_options_t options = {.directory = directory->path,
                                      .resume = line->resume != NULL,
                                      .library = line->library,
                                      .jobs = (uint32_t)line->jobs,
                                      .secret = line->given_secret,
                                      .skip = line->skip,
                                      .log = log,
                                      .catch_signals = true,
                                      .until_input_ends = line->until_input_ends,
                                      .observe = progress ? rkb_progress_observe : NULL,
                                      .argument = progress};
   rkb_crash_report_open(directory->path);
   status = rkb_run(pipeline, &options, &outcome, &err);
   rkb_progress_free(progress);
   if (status == RKB_OK) {
      code = print_result(line, &outcome, objective, directory->path);
   } else {
      rkb_say_error(&err);
      code = status == RKB_ERR_INVALID ? RKB_EXIT_USAGE : RKB_EXIT_BROKEN;
      if (!outcome.begun && !line->resume)
         rkb_run_directory_take_back(directory);
      else if (code == RKB_EXIT_BROKEN)
         fprintf(stderr, "finished results are stored; continue with: rkb-run --resume %s\n", directory->path);
   }
   leave_if_hung(&outcome, code);
   return code;
}

static int run_pipeline(rkb_pipeline_t *pipeline, const rkb_arguments_t *arguments,
                        const command_line_t *line) {
   rkb_run_directory_t directory;
   int code = choose_directory(arguments, line, rkb_pipeline_name(pipeline), &directory);
   if (code == RKB_EXIT_OK) {
      rkb_log_t *log = open_log(line, directory.path);
      if (!log && !line->resume)
         rkb_run_directory_take_back(&directory);
      code = log ? run_in(pipeline, line, &directory, log) : RKB_EXIT_BROKEN;
      rkb_log_close(log);
   }
   rkb_run_directory_free(&directory);
   return code;
}

/* Runs one cell of a sweep.  It is a run like any other, in its own directory and with the sweep's secret. */
static int run_cell(const rkb_arguments_t *arguments, command_line_t *line) {
   rkb_run_cell_t cell;
   rkb_pipeline_t *pipeline = NULL;
   int code = rkb_find_run_cell(line->resume, rkb_argument(arguments, "cell"), &cell);
   if (code == RKB_EXIT_OK && !cell.ended) {
      char *path = rkb_run_path_pipeline(cell.directory);
      line->resume = cell.directory;
      line->secret = cell.secret;
      line->given_secret = &line->secret;
      pipeline = rkb_open_pipeline(arguments, path);
      free(path);
      code = !pipeline                         ? RKB_EXIT_USAGE
             : !rkb_compiler_present(pipeline) ? RKB_EXIT_BROKEN
                                               : run_pipeline(pipeline, arguments, line);
   }
   rkb_pipeline_free(pipeline);
   free(cell.directory);
   return code;
}

/* Checks what a run needs from this machine and from the network, before a run directory exists.  A run on another machine is
 * checked there. */
static int look_before(const rkb_arguments_t *arguments, const command_line_t *line, const rkb_pipeline_t *pipeline) {
   if (is_placed(arguments))
      return RKB_EXIT_OK;
   if (!rkb_compiler_present(pipeline))
      return RKB_EXIT_BROKEN;
   return line->resume ? RKB_EXIT_OK : rkb_look_for_models(rkb_pipeline_models(pipeline));
}

static int run(const rkb_arguments_t *arguments) {
   command_line_t line;
   rkb_pipeline_t *pipeline;
   int code;
   if (rkb_argument_given(arguments, "dry-run") && rkb_look_confined(&code)) {
      const bool looked = code & RKB_DRY_RUN_LOOKED;
      const int tools = rkb_dry_run_tools(code);
      const int models = looked && rkb_positional(arguments, 0) ? rkb_say_models(arguments, rkb_positional(arguments, 0)) : RKB_EXIT_OK;
      return tools != RKB_EXIT_OK ? tools : models;
   }
   code = read_command_line(arguments, &line);
   if (code != RKB_EXIT_OK)
      return code;
   if (line.resume && (rkb_is_sweep(line.resume) || is_placed(arguments))) {
      free(line.pipeline_path);
      return rkb_argument_given(arguments, "cell") ? run_cell(arguments, &line)
                                                   : rkb_run_old_sweep(arguments, line.resume);
   }
   pipeline = rkb_open_pipeline(arguments, line.pipeline_path);
   free(line.pipeline_path);
   if (!pipeline)
      return RKB_EXIT_USAGE;
   const bool dry = rkb_argument_given(arguments, "dry-run");
   code = dry ? rkb_dry_run(pipeline) : look_before(arguments, &line, pipeline);
   if (dry || code != RKB_EXIT_OK)
      ;
   else if (rkb_argument_given(arguments, "sweep") || is_placed(arguments))
      code = rkb_run_new_sweep(arguments, pipeline, line.given_secret);
   else
      code = run_pipeline(pipeline, arguments, &line);
   rkb_pipeline_free(pipeline);
   return code;
}

static const rkb_cli_option_t options[] = {
   RKB_PIPELINE_OPTIONS,
   {"out", "DIR", "The run's directory (default: runs/<name>-<time>).", false},
   {"resume", "DIR", "Continue the run or the sweep in this directory.", false},
   {"sweep", NULL, "Run every combination of the pipeline's seeds:, arms: and matrix:, each as a run.", false},
   {"cells", "N", "Runs of a sweep at the same time, on each machine (default: 1; with Slurm: no limit).", false},
   {"on", "WHERE", "Where to run: local, slurm, or ssh:HOST,HOST (docs/clusters.md).", false},
   {"sbatch", "OPTION", "With --on slurm: an option for sbatch, e.g. --sbatch=--partition=gpu.", true},
   {"detach", NULL, "With --on slurm: return when everything is in the queue; --resume gathers the results.", false},
   {"cell", "N", "With --resume: only this cell of a sweep, in this process.", false},
   {"skip-stage", "NAME", "With --resume: go on without this stage, for one that crashes. Repeatable.", true},
   {"library", "DIR", "Read kernels of earlier runs from this folder, and add the best ones at the end (docs/library.md).", false},
   RKB_SECRET_OPTION,
   {"workers", "LIST", "Machines to measure on and to screen on, e.g. [[ssh, gpu-host, rkb-worker]] (docs/workers.md).", false},
   {"jobs", "N", "Worker threads (default: one a core; in a sweep, the cores divided among its runs).", false},
   {"until-input-ends", NULL, "End as by ^C when standard input ends, for programs that start runs.", false},
   {"dry-run", NULL, "Show what a run would do, what is missing, and what it can cost at most.", false},
   {"quiet", NULL, "Print the result, no progress.", false},
   {"json", NULL, "Print the result as one JSON object, and the log as JSON lines.", false},
   {NULL, NULL, NULL, false},
};

static const rkb_command_t command = {
   .name = "rkb-run",
   .arguments = "PIPELINE",
   .summary =
      "Run a pipeline: propose candidate kernels, screen, measure and store them, and continue from the best.",
   .details =
      "The result goes to standard output, everything else to standard error.  ^C ends a run; --resume continues it.\n"
      "When you resume a run, you may change only limits, workers, --jobs and the output.  Without --secret a run draws one, stores\n"
      "it in its archive and prints it at the end: with the same seed and secret a run gives the same archive.\n"
      "A sweep's runs lie in directories below its own, each with its archive; 'rkb report DIR' compares them.  It exits with\n"
      "0 when every run has ended, whatever was found, and with 3 when one could not.\n"
      "Exit: 0 found, 1 ended with no accepted candidate (or none verified by execution), 2 usage, 3 a broken tool,\n"
      "130 interrupted and resumable.\n",
   .options = options,
   .least = 0,
   .most = 1,
   .run = run,
};

int main(int count, char **argv) {
   if (count == 2 && strcmp(argv[1], "--version") == 0) {
      printf("rkb-run %s\n", RKB_VERSION);
      return rkb_flush_result(RKB_EXIT_OK);
   }
   return rkb_command_main(&command, "rkb-run", count, argv);
}
