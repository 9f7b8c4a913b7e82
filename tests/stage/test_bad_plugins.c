/* Plugins that break the contract in a run, one fault each (bad_plugins/): each gets one clear sentence, and harms nothing.  tests/plugin has those that
 * are refused when they are loaded. */
#include "run/run_harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rkb/ext/llm.h>
#include <rkb/ext/task.h>
#include "base/file.h"

static rkb_pipeline_t *open_with(const char *scratch, const char *name) {
   char text[2048];
   snprintf(
      text, sizeof text,
      "rkb: 1\nplugins: [\"%s/%s.so\"]\npropose:\n  - use: test.translator.start\n    with: {values: [\"6\", "
      "\"10\"]}\n"
      "screen:\n  - {use: bad.verifier.%s, deadline: 1s, retries: 0}\n  - {use: test.verifier.divide}\n",
      RKB_BAD_PLUGINS, name, name);
   return open_text(scratch, "bad.yaml", text, NULL);
}

/* What a run makes of it: the verdict in the archive, and a line in the log. */
typedef struct run_case {
   const char *name, *verdict, *line;
} run_case_t;
static const run_case_t AT_RUN[] = {
   {"completes_twice", "accept", "completed a job twice; the second time is ignored"},
   {"completes_late", "accept", "completed a job that had ended already"},
   {"completes_from_run", "accept", "it called job_complete, which is for stages with submit"},
   {"undeclared_type", "unknown tool.contract", "it emitted a 'poem', which its descriptor does not list"},
   {"undeclared_measurement", "unknown tool.contract", "a measurement that its descriptor does not list"},
   {"no_verdict", "unknown tool.contract", "it gave no verdict"},
   {"two_verdicts", "unknown tool.contract", "more than one verdict in one job"},
   {"reason_in_words", "unknown tool.contract", "its verdict's reason 'occupancy low' is no code; write one word"},
};

static void test_faults_of_a_run_harm_nothing(void **state) {
   (void)state;
   for (size_t i = 0; i < sizeof AT_RUN / sizeof AT_RUN[0]; i++) {
      char *scratch = scratch_make(), *path = rkb_path_join(scratch, "log"), *said = NULL;
      size_t length;
      rkb_log_t *log = NULL;
      rkb_run_result_t outcome;
      rkb_error_t err = {0};
      assert_int_equal(rkb_log_open(RKB_LOG_ERROR + 1, false, path, &log, &err), RKB_OK);
      rkb_pipeline_t *pipeline = open_with(scratch, AT_RUN[i].name);
      rkb_run_options_t options = {.directory = scratch, .jobs = 2, .log = log};
      assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_OK);
      rkb_pipeline_free(pipeline);
      rkb_log_close(log);
      assert_string_equal(verdict_of(scratch, 1, AT_RUN[i].name), AT_RUN[i].verdict);
      assert_string_equal(verdict_of(scratch, 2, AT_RUN[i].name), AT_RUN[i].verdict);
      assert_string_equal(verdict_of(scratch, 2, "divide"), "accept");
      assert_int_equal(rkb_file_read(path, 1 << 20, &said, &length, &err), RKB_OK);
      if (!strstr(said, AT_RUN[i].line))
         fail_msg("%s: expected '%s' in the log:\n%s", AT_RUN[i].name, AT_RUN[i].line, said);
      free(said);
      free(path);
      scratch_remove(scratch);
   }
}

static void test_what_cannot_begin_stops_the_run(void **state) {
   static const struct {
      const char *name, *sentence;
      int status;
   } cases[] = {
      {"fails_create", "fails_create could not be created: there is no such device", RKB_ERR_UNAVAILABLE},
      {"fails_start", "fails_start could not be started: the device does not answer", RKB_ERR_UNAVAILABLE},
      {"needs_nothing_known",
       "bad.verifier.needs_nothing_known needs the extension rkb.nothing/1: this program has no such extension",
       RKB_ERR_UNAVAILABLE},
      {"needs_old_draft",
       "bad.verifier.needs_old_draft needs the extension rkb.draft.asynchronous/99: this program has no such draft",
       RKB_ERR_UNAVAILABLE},
      {"needs_models",
       "bad.verifier.needs_models needs the extension " RKB_EXT_LLM ": the pipeline lists no language models",
       RKB_ERR_UNAVAILABLE},
      {"needs_task",
       "bad.verifier.needs_task needs the extension " RKB_EXT_TASK ": the pipeline has no task; write task:",
       RKB_ERR_UNAVAILABLE},
      {"serves_twice", "serve is for a stage's create, and for one call there", RKB_ERR_CONTRACT},
      {"serves_nothing", "serve was given a stage without submit", RKB_ERR_CONTRACT},
      {"serves_unsized", "the rkb_asynchronous_stage_t it gave has .size 0", RKB_ERR_CONTRACT},
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      char *scratch = scratch_make();
      rkb_log_t *log = quiet_log();
      rkb_run_result_t outcome;
      rkb_error_t err = {0};
      rkb_pipeline_t *pipeline = open_with(scratch, cases[i].name);
      rkb_run_options_t options = {.jobs = 2, .log = log};
      assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), cases[i].status);
      if (!strstr(err.message, cases[i].sentence))
         fail_msg("expected '%s', got '%s'", cases[i].sentence, err.message);
      rkb_pipeline_free(pipeline);
      rkb_log_close(log);
      scratch_remove(scratch);
   }
}

/* In a process of its own: its instance is never destroyed. */
static void test_one_that_never_completes_is_written_off(void **state) {
   char *scratch = scratch_make();
   int how;
   (void)state;
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      rkb_run_result_t outcome = run_pipeline(open_with(scratch, "never_completes"), scratch, 2, false);
      _exit(outcome.must_exit_hard ? 42 : 1);
   }
   assert_int_equal(waitpid(child, &how, 0), child);
   assert_int_equal(WIFEXITED(how) ? WEXITSTATUS(how) : -1, 42);
   assert_string_equal(verdict_of(scratch, 1, "never_completes"), "unknown tool.hang");
   assert_string_equal(verdict_of(scratch, 1, "divide"), "accept");
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_faults_of_a_run_harm_nothing),
      cmocka_unit_test(test_what_cannot_begin_stops_the_run),
      cmocka_unit_test(test_one_that_never_completes_is_written_off),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
