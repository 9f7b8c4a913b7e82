/* Runs one candidate's file through a pipeline's screen.  The main thread becomes the engine's loop. */
#include "cli/shared/candidate_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rkb/items.h>
#include "base/file.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/shared/candidate_file.h"
#include "cli/shared/check_result.h"
#include "cli/shared/installed_tools.h"
#include "cli/shared/run_result.h"
#include "cli/shared/replay_line.h"
#include "cli/shared/run_archive.h"
#include "cli/shared/schedule_text.h"

static int exit_of(const rkb_check_result_t *result, bool strict) {
   if (strcmp(result->standing, RKB_REJECT) == 0)
      return RKB_EXIT_NOTHING;
   if (strcmp(result->standing, RKB_SUSPECT) == 0)
      return strict ? RKB_EXIT_NOTHING : RKB_EXIT_SUSPECT;
   return strcmp(result->standing, RKB_ACCEPT) == 0 ? RKB_EXIT_OK : RKB_EXIT_BROKEN;
}

static int check(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file, rkb_pipeline_t *pipeline,
                 rkb_log_t *log) {
   rkb_secret_t given;
   rkb_check_options_t options = {
      .name = file->path, .source = file->source, .tune = file->tune, .log = log, .catch_signals = true};
   rkb_check_result_t *result = NULL;
   rkb_error_t err;
   int code = rkb_secret_argument(arguments, &given, &options.secret);
   if (code != RKB_EXIT_OK)
      return code;
   if (rkb_check(pipeline, &options, &result, &err) != RKB_OK) {
      rkb_say_error(&err);
      return err.status == RKB_ERR_CANCELLED ? RKB_EXIT_INTERRUPTED : RKB_EXIT_BROKEN;
   }
   code = exit_of(result, rkb_argument_given(arguments, "strict"));
   char *replay = rkb_replay_line_of_file(arguments, file->path, &result->secret);
   const rkb_checked_t checked = {.name = file->path,
                                  .source = file->source,
                                  .task = rkb_task_info(file->task)->name,
                                  .direction = file->manifest->direction,
                                  .objective = rkb_pipeline_facts(pipeline).objective,
                                  .target = rkb_pipeline_facts(pipeline).target,
                                  .replay = replay};
   if (rkb_argument_given(arguments, "json"))
      rkb_print_json(rkb_check_json(&checked, result));
   else {
      rkb_print_check(&checked, result);
      rkb_say_if_edited(file);
   }
   if (!options.secret && !rkb_argument_given(arguments, "json"))
      rkb_print_secret(&result->secret);
   free(replay);
   rkb_check_result_done(result, code);
   return code;
}

static rkb_pipeline_t *open_screen(const rkb_arguments_t *arguments, const rkb_candidate_file_t *file) {
   const char *named = rkb_argument(arguments, "pipeline");
   const char *shipped = rkb_argument_given(arguments, "profile") ? "pipelines/profile.yaml" : "pipelines/stock.yaml";
   char *path = named ? rkb_duplicate(named) : rkb_find_data(shipped);
   rkb_pipeline_t *pipeline = NULL;
   if (path)
      pipeline = rkb_open_pipeline_for(arguments, path, rkb_task_info(file->task)->directory,
                                       file->manifest->direction);
   else
      fprintf(stderr, "%s is not installed; name a pipeline with --pipeline FILE\n", shipped);
   free(path);
   return pipeline;
}

/* Whether this machine lacks a GPU that the pipeline needs.  The shipped pipeline of --profile measures on
 * this machine's GPU; a pipeline that the user names may have workers elsewhere. */
static bool lacks_gpu(const rkb_arguments_t *arguments) {
   rkb_tool_report_t report;
   if (!rkb_argument_given(arguments, "profile") || rkb_argument_given(arguments, "pipeline") || rkb_argument_given(arguments, "set"))
      return false;
   rkb_tool_look(RKB_TOOL_DRIVER, &report);
   if (!report.found)
      fprintf(stderr, "--profile needs a GPU, and none can be used here: %s\nto get it: %s; without --profile the kernel is judged on the CPU\n",
              report.detail, report.remedy);
   return !report.found;
}

int rkb_candidate_check(const rkb_arguments_t *arguments) {
   rkb_candidate_file_t file;
   rkb_pipeline_t *pipeline = NULL;
   rkb_log_t *log = NULL;
   rkb_error_t err;
   if (lacks_gpu(arguments))
      return RKB_EXIT_BROKEN;
   int code = rkb_candidate_file_load(arguments, rkb_positional(arguments, 0), &file);
   /* An invalid manifest is the candidate's fault, not the command line's. */
   if (code != RKB_EXIT_OK) {
      code = file.source && file.tune && file.device && !file.manifest ? RKB_EXIT_NOTHING : code;
      goto free_file;
   }
   pipeline = open_screen(arguments, &file);
   if (!pipeline) {
      code = RKB_EXIT_USAGE;
      goto free_file;
   }
   if (rkb_log_open(RKB_LOG_WARN, false, NULL, &log, &err) != RKB_OK) {
      code = rkb_say_error(&err);
      goto free_pipeline;
   }
   code = check(arguments, &file, pipeline, log);
   rkb_log_close(log);

free_pipeline:
   rkb_pipeline_free(pipeline);
free_file:
   rkb_candidate_file_free(&file);
   return code;
}
