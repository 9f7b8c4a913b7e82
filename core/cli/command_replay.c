/* rkb replay: screens a candidate again.  A file is screened as rkb check did; an archived candidate gets the
 * secret of its run, and the command says whether the verdicts are the same.  The main thread becomes the
 * engine's loop. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/units.h"
#include "cli/shared/candidate_check.h"
#include "cli/shared/check_result.h"
#include "cli/commands.h"
#include "cli/shared/pipeline_file.h"
#include "cli/shared/replay_line.h"

static const rkb_verdict_record_t *find_verdict(const rkb_candidate_record_t *candidate, const char *stage) {
   for (uint32_t i = 0; i < candidate->verdict_count; i++)
      if (strcmp(candidate->verdicts[i].stage, stage) == 0)
         return &candidate->verdicts[i];
   return NULL;
}

static bool same_text(const char *left, const char *right) {
   return strcmp(left ? left : "", right ? right : "") == 0;
}

/* Compares the stages that ran in both.  The later stages of a duplicate never ran in the run. */
static int compare(const rkb_candidate_record_t *candidate, const rkb_check_result_t *result, FILE *out) {
   uint32_t compared = 0, different = 0;
   for (uint32_t i = 0; i < result->verdict_count; i++) {
      const rkb_check_verdict_t *now = &result->verdicts[i];
      const rkb_verdict_record_t *then = find_verdict(candidate, now->stage);
      if (!then)
         continue;
      compared++;
      if (strcmp(then->standing, now->standing) == 0 && strcmp(then->reason, now->reason) == 0 &&
          same_text(then->evidence, now->evidence))
         continue;
      different++;
      fprintf(out, "%s: the run found %s %s: %s\n", now->stage, then->standing, then->reason, then->message);
   }
   if (different == 0 && compared > 0)
      fprintf(out, "the same as in the run\n");
   else if (compared == 0)
      fprintf(out, "the run holds no verdict to compare with\n");
   return different == 0 && compared > 0 ? RKB_EXIT_OK : RKB_EXIT_NOTHING;
}

static int replay(const rkb_arguments_t *arguments, rkb_pipeline_t *pipeline,
                  const rkb_candidate_record_t *candidate, const rkb_secret_t *secret, rkb_log_t *log) {
   char name[48];
   rkb_check_result_t *result = NULL;
   rkb_error_t err;
   const rkb_check_options_t options = {.name = name,
                                        .source = candidate->source,
                                        .tune = candidate->tune,
                                        .secret = secret,
                                        .log = log,
                                        .catch_signals = true,
                                        .section = candidate->section,
                                        .request = candidate->request,
                                        .child = candidate->child};
   const rkb_pipeline_facts_t facts = rkb_pipeline_facts(pipeline);
   snprintf(name, sizeof name, "candidate %" PRId64, candidate->number);
   if (rkb_check(pipeline, &options, &result, &err) != RKB_OK) {
      rkb_say_error(&err);
      return err.status == RKB_ERR_CANCELLED ? RKB_EXIT_INTERRUPTED : RKB_EXIT_BROKEN;
   }
   char *line = rkb_replay_line_of_run(arguments, rkb_positional(arguments, 0), candidate->number);
   const rkb_checked_t checked = {.name = name,
                                  .source = candidate->source,
                                  .task = candidate->task,
                                  .direction = candidate->direction,
                                  .objective = facts.objective,
                                  .target = facts.target,
                                  .replay = line};
   if (rkb_argument_given(arguments, "json"))
      rkb_print_json(rkb_check_json(&checked, result));
   else
      rkb_print_check(&checked, result);
   free(line);
   int code = compare(candidate, result, rkb_argument_given(arguments, "json") ? stderr : stdout);
   rkb_check_result_done(result, code);
   return code;
}

static int replay_candidate(const rkb_arguments_t *arguments, const rkb_candidate_record_t *candidate,
                            const rkb_secret_t *secret, const char *directory) {
   rkb_log_t *log = NULL;
   rkb_error_t err;
   int code = RKB_EXIT_USAGE;
   char *path = rkb_run_path_pipeline(directory);
   rkb_pipeline_t *pipeline = path ? rkb_open_pipeline(arguments, path) : NULL;
   if (pipeline && rkb_log_open(RKB_LOG_WARN, false, NULL, &log, &err) != RKB_OK)
      code = rkb_say_error(&err);
   else if (pipeline)
      code = replay(arguments, pipeline, candidate, secret, log);
   rkb_log_close(log);
   rkb_pipeline_free(pipeline);
   free(path);
   return code;
}

/* Reads the secret that the run drew samples with. */
static int read_secret(rkb_archive_t *archive, rkb_secret_t *secret, rkb_error_t *err) {
   char *text = rkb_archive_get_fact(archive, "secret");
   const int status =
      text ? rkb_secret_read(text, secret, err)
           : rkb_fail(err, RKB_ERR_INVALID,
                      "the archive has no secret: its run was made by an older rkb and cannot be repeated");
   free(text);
   return status;
}

static int replay_from_run(const rkb_arguments_t *arguments) {
   rkb_candidate_record_t *candidate = NULL;
   rkb_secret_t secret;
   rkb_error_t err;
   int64_t number = 0;
   int code = RKB_EXIT_OK;
   if (!rkb_parse_int(rkb_positional(arguments, 1), &number)) {
      fprintf(stderr, "'%s' is not a candidate number\n", rkb_positional(arguments, 1));
      return RKB_EXIT_USAGE;
   }
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   if (read_secret(archive, &secret, &err) != RKB_OK ||
       rkb_archive_load_candidate(archive, number, &candidate, &err) != RKB_OK)
      code = rkb_say_error(&err);
   rkb_archive_close(archive);
   if (code == RKB_EXIT_OK)
      code = replay_candidate(arguments, candidate, &secret, rkb_positional(arguments, 0));
   rkb_candidate_record_free(candidate);
   return code;
}

/* With a file the user gives the options; with a run they are the run's own. */
static int run(const rkb_arguments_t *arguments) {
   static const char *const of_files[] = {"pipeline", "tune", "strict", "secret"};
   struct stat named;
   if (arguments->count == 1 && stat(rkb_positional(arguments, 0), &named) == 0 && S_ISDIR(named.st_mode)) {
      fprintf(
         stderr,
         "%s is a directory: say which candidate of the run, as in 'rkb replay %s 17'; 'rkb show %s' lists them\n",
         rkb_positional(arguments, 0), rkb_positional(arguments, 0), rkb_positional(arguments, 0));
      return RKB_EXIT_USAGE;
   }
   if (arguments->count == 1)
      return rkb_candidate_check(arguments);
   for (size_t i = 0; i < sizeof of_files / sizeof *of_files; i++)
      if (rkb_argument_given(arguments, of_files[i])) {
         fprintf(stderr, "--%s is for a file; a run's candidate keeps what its run had\n", of_files[i]);
         return RKB_EXIT_USAGE;
      }
   return replay_from_run(arguments);
}

static const rkb_cli_option_t options[] = {
   RKB_CHECK_OPTIONS,
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_replay = {
   .name = "replay",
   .arguments = "DIR ID | FILE.cu",
   .summary = "Screen a run's candidate, or a file, again and show what is found.",
   .details =
      "For a run, uses its pipeline, seed and secret, and compares what it finds with what the run found.  Give\n"
      "--task if the task has moved since.  For a file, screens it as rkb check does, with the options that you give.\n"
      "Exit for DIR ID: 0 the same verdicts and evidence, 1 different, 2 no such run or candidate, 3 a broken tool;\n"
      "for FILE.cu as rkb check.\n",
   .options = options,
   .least = 1,
   .most = 2,
   .run = run,
};
