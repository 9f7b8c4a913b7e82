/* The engine tests' common ground (run_harness.h). */
#include "run_harness.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/file.h"

char *scratch_make(void) {
   char *directory = strdup("/tmp/rkb-test-engine-XXXXXX");
   assert_non_null(directory);
   assert_non_null(mkdtemp(directory));
   return directory;
}

void scratch_remove(char *directory) {
   char command[300];
   snprintf(command, sizeof command, "rm -rf '%s'", directory);
   assert_int_equal(system(command), 0);
   free(directory);
}

rkb_log_t *quiet_log(void) {
   rkb_log_t *log = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_log_open(RKB_LOG_ERROR + 1, false, NULL, &log, &err), RKB_OK);
   return log;
}

rkb_pipeline_t *open_pipeline(const char *path, const char *const *set) {
   static const char *const plugins[] = {RKB_TEST_PLUGINS, NULL};
   rkb_pipeline_options_t options = {.path = path, .set = set, .plugin_paths = plugins};
   rkb_problems_t problems;
   rkb_text_t text;
   rkb_problems_init(&problems);
   rkb_pipeline_t *pipeline = rkb_pipeline_open(&options, &problems);
   if (!pipeline) {
      rkb_text_init(&text, 1 << 16);
      rkb_problems_write(&problems, &text);
      fail_msg("%s", rkb_text_get(&text));
   }
   rkb_problems_free(&problems);
   return pipeline;
}

rkb_pipeline_t *open_text(const char *directory, const char *name, const char *text, const char *const *set) {
   rkb_error_t err = {0};
   char *path = rkb_path_join(directory, name);
   assert_non_null(path);
   assert_int_equal(rkb_file_write(path, text, strlen(text), &err), RKB_OK);
   rkb_pipeline_t *pipeline = open_pipeline(path, set);
   free(path);
   return pipeline;
}

rkb_run_result_t run_pipeline(rkb_pipeline_t *pipeline, const char *directory, uint32_t jobs, bool resume) {
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   rkb_log_t *log = quiet_log();
   if (directory)
      assert_int_equal(rkb_make_directories(directory, &err), RKB_OK);
   rkb_run_options_t options = {
      .directory = directory, .resume = resume, .jobs = jobs, .secret = &rkb_secret_published, .log = log};
   if (rkb_run(pipeline, &options, &outcome, &err) != RKB_OK)
      fail_msg("the run broke: %s", err.message);
   if (!outcome.must_exit_hard)
      rkb_log_close(log);
   return outcome;
}

static void say(void *argument, const char *line) {
   (void)argument;
   print_message("   %s\n", line);
}

void assert_same_runs(const char *left, const char *right) {
   rkb_archive_t *a = NULL, *b = NULL;
   rkb_archive_difference_t difference;
   rkb_error_t err = {0};
   assert_int_equal(rkb_archive_open(left, &a, &err), RKB_OK);
   assert_int_equal(rkb_archive_open(right, &b, &err), RKB_OK);
   assert_int_equal(rkb_archive_compare(a, b, 10, say, NULL, &difference, &err), RKB_OK);
   rkb_archive_close(a);
   rkb_archive_close(b);
   assert_int_equal(difference.differences, 0);
   assert_true(difference.compared > 100);
}

static rkb_candidate_record_t *load(const char *directory, int64_t candidate, rkb_archive_t **archive) {
   rkb_candidate_record_t *record = NULL;
   rkb_error_t err = {0};
   assert_int_equal(rkb_archive_open(directory, archive, &err), RKB_OK);
   if (rkb_archive_load_candidate(*archive, candidate, &record, &err) != RKB_OK)
      fail_msg("candidate %lld: %s", (long long)candidate, err.message);
   return record;
}

const char *verdict_of(const char *directory, int64_t candidate, const char *stage) {
   static char text[200];
   rkb_archive_t *archive;
   rkb_candidate_record_t *record = load(directory, candidate, &archive);
   text[0] = '\0';
   for (uint32_t i = 0; i < record->verdict_count; i++) {
      const rkb_verdict_record_t *verdict = &record->verdicts[i];
      if (strcmp(verdict->stage, stage) == 0)
         snprintf(text, sizeof text, "%s%s%s%s", verdict->standing, verdict->reason[0] ? " " : "",
                  verdict->reason, verdict->shadow ? " shadow" : "");
   }
   rkb_candidate_record_free(record);
   rkb_archive_close(archive);
   return text;
}

const char *standing_of(const char *directory, int64_t candidate) {
   static char text[32];
   rkb_archive_t *archive;
   rkb_candidate_record_t *record = load(directory, candidate, &archive);
   snprintf(text, sizeof text, "%s", record->standing);
   rkb_candidate_record_free(record);
   rkb_archive_close(archive);
   return text;
}

uint32_t attempts_of(const char *directory, int64_t candidate, const char *stage) {
   uint32_t attempts = 0;
   rkb_archive_t *archive;
   rkb_candidate_record_t *record = load(directory, candidate, &archive);
   for (uint32_t i = 0; i < record->verdict_count; i++)
      if (strcmp(record->verdicts[i].stage, stage) == 0)
         attempts = record->verdicts[i].attempts;
   rkb_candidate_record_free(record);
   rkb_archive_close(archive);
   return attempts;
}
