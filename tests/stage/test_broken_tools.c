/* Tools that fail, hang and leave processes behind; runs that are interrupted.  None of it stops a run or costs what was
 * finished. */
#include "run/run_harness.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

#define HEAD "rkb: 1\npropose:\n  - use: test.translator.start\n    with: {values: [\"6\", \"10\", \"15\"]}\n"
#define CLIMB RKB_SOURCE_DIR "/tests/run/climb.yaml"

static rkb_run_result_t run_screen(const char *scratch, const char *rest) {
   char text[4096];
   snprintf(text, sizeof text, HEAD "%s", rest);
   rkb_pipeline_t *pipeline = open_text(scratch, "tools.yaml", text, NULL);
   rkb_run_result_t outcome = run_pipeline(pipeline, scratch, 2, false);
   if (!outcome.must_exit_hard)
      rkb_pipeline_free(pipeline);
   return outcome;
}

static void test_broken_tool_is_tried_again(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.flaky, with: {failures: 2}, retries: 2, jobs: 1}\n");
   assert_string_equal(verdict_of(run, 1, "flaky"), "accept");
   assert_string_equal(verdict_of(run, 3, "flaky"), "accept");
   uint32_t tries =
      attempts_of(run, 1, "flaky") + attempts_of(run, 2, "flaky") + attempts_of(run, 3, "flaky");
   assert_int_equal(tries, 5);
   scratch_remove(run);
}

static void test_tries_end(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.flaky, with: {failures: 100}, retries: 2}\n");
   assert_string_equal(verdict_of(run, 2, "flaky"), "unknown tool.unavailable");
   assert_int_equal(attempts_of(run, 2, "flaky"), 3);
   scratch_remove(run);
}

static void test_wrong_configuration_is_not_tried_again(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(
      run, "screen:\n  - {use: test.verifier.flaky, with: {failures: 100, status: invalid}, retries: 5}\n");
   assert_string_equal(verdict_of(run, 2, "flaky"), "unknown tool.invalid");
   assert_int_equal(attempts_of(run, 2, "flaky"), 1);
   scratch_remove(run);
}

static void test_deadline_cancels(void **state) {
   char *run = scratch_make();
   (void)state;
   rkb_run_result_t outcome =
      run_screen(run, "screen:\n  - {use: test.verifier.slow, with: {on: 10}, deadline: 1s, retries: 0}\n");
   assert_string_equal(verdict_of(run, 1, "slow"), "accept");
   assert_string_equal(verdict_of(run, 2, "slow"), "unknown tool.timeout");
   assert_string_equal(verdict_of(run, 3, "slow"), "accept");
   assert_false(outcome.must_exit_hard);
   scratch_remove(run);
}

/* In a process of its own: what hangs stays in memory and its thread never ends. */
static void test_hanging_stage_is_written_off(void **state) {
   char *run = scratch_make();
   int how;
   (void)state;
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      rkb_run_result_t outcome =
         run_screen(run, "screen:\n  - {use: test.verifier.deaf, with: {on: 10}, deadline: 1s, jobs: 1}\n"
                         "  - {use: test.verifier.divide}\n");
      _exit(outcome.must_exit_hard ? 42 : 1);
   }
   assert_int_equal(waitpid(child, &how, 0), child);
   assert_true(WIFEXITED(how));
   assert_int_equal(WEXITSTATUS(how), 42);
   assert_string_equal(verdict_of(run, 1, "deaf"), "accept");
   assert_string_equal(verdict_of(run, 2, "deaf"), "unknown tool.hang");
   assert_string_equal(verdict_of(run, 2, "divide"), "accept");
   assert_string_equal(verdict_of(run, 3, "deaf"), "accept"); /* a fresh instance took over */
   scratch_remove(run);
}

static void test_grandchildren_are_gone(void **state) {
   char *run = scratch_make();
   char text[1024], *data = NULL;
   size_t length;
   rkb_error_t err = {0};
   (void)state;
   snprintf(text, sizeof text,
            "screen:\n  - {use: test.verifier.family, with: {file: \"%s/pid\"}, deadline: 2s, retries: 0, "
            "jobs: 1}\n",
            run);
   rkb_run_result_t outcome = run_screen(run, text);
   assert_string_equal(verdict_of(run, 1, "family"), "unknown tool.timeout");
   assert_false(outcome.must_exit_hard);
   char *path = rkb_path_join(run, "pid");
   assert_int_equal(rkb_file_read(path, 100, &data, &length, &err), RKB_OK);
   pid_t grandchild = atoi(data);
   assert_true(grandchild > 1);
   assert_int_equal(kill(grandchild, 0), -1);
   assert_int_equal(errno, ESRCH);
   free(path);
   free(data);
   scratch_remove(run);
}

typedef struct watch {
   int handle;
   uint64_t after;
   bool rang;
} watch_t;

static void interrupt_after(void *argument, const rkb_event_t *event) {
   watch_t *watch = argument;
   if (event->candidates >= watch->after && !watch->rang) {
      watch->rang = true;
      rkb_interrupt(watch->handle);
   }
}

static void test_interrupted_run_goes_on(void **state) {
   char *scratch = scratch_make();
   char *whole = rkb_path_join(scratch, "whole"), *cut = rkb_path_join(scratch, "cut");
   rkb_log_t *log = quiet_log();
   rkb_error_t err = {0};
   (void)state;
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, NULL);
   run_pipeline(pipeline, whole, 2, false);
   rkb_pipeline_free(pipeline);
   assert_int_equal(rkb_make_directories(cut, &err), RKB_OK);
   for (uint64_t after = 10; after < 100; after += 6) {
      rkb_run_result_t outcome;
      watch_t watch = {.after = after};
      rkb_run_options_t options = {.directory = cut,
                                   .resume = after > 10,
                                   .jobs = 2,
                                   .secret = &rkb_secret_published,
                                   .log = log,
                                   .observe = interrupt_after,
                                   .argument = &watch,
                                   .interrupt_handle = &watch.handle};
      pipeline = open_pipeline(CLIMB, NULL);
      assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_OK);
      assert_int_equal(outcome.ending, RKB_ENDED_INTERRUPTED);
      rkb_pipeline_free(pipeline);
   }
   pipeline = open_pipeline(CLIMB, NULL);
   run_pipeline(pipeline, cut, 2, true);
   rkb_pipeline_free(pipeline);
   assert_same_runs(whole, cut);
   rkb_log_close(log);
   free(whole);
   free(cut);
   scratch_remove(scratch);
}

static void test_wall_ends_a_run(void **state) {
   static const char *const set[] = {"limits.wall=30ms", "limits.candidates=100000",
                                     "search.operators.step.with.hold_us=500", NULL};
   char *scratch = scratch_make();
   (void)state;
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
   rkb_run_result_t outcome = run_pipeline(pipeline, scratch, 2, false);
   assert_int_equal(outcome.ending, RKB_ENDED_WALL);
   rkb_pipeline_free(pipeline);
   scratch_remove(scratch);
}

static void test_waiting_for_ever_ends(void **state) {
   static const char *const waits[] = {"search.with.wait_every=1", NULL}, *const some[] = {
                                                                             "search.with.wait_every=3",
                                                                             NULL};
   static const char *const done[] = {"search.with.done_after=30", NULL};
   char *scratch = scratch_make();
   (void)state;
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, waits);
   rkb_run_result_t outcome = run_pipeline(pipeline, NULL, 2, false);
   assert_int_equal(outcome.ending, RKB_ENDED_STUCK);
   assert_int_equal(outcome.told, 1 + 8);
   rkb_pipeline_free(pipeline);
   pipeline = open_pipeline(CLIMB, some);
   outcome = run_pipeline(pipeline, NULL, 2, false);
   assert_int_equal(outcome.ending, RKB_ENDED_LIMIT);
   rkb_pipeline_free(pipeline);
   /* Asks 0 to 29, DONE is number 30, and one more fills the group of four. */
   pipeline = open_pipeline(CLIMB, done);
   outcome = run_pipeline(pipeline, NULL, 2, false);
   assert_int_equal(outcome.ending, RKB_ENDED_DONE);
   assert_int_equal(outcome.told, 1 + 32);
   rkb_pipeline_free(pipeline);
   scratch_remove(scratch);
}

/* Moves of nothing give duplicates only, and these reach no limit on candidates. */
static void test_exhausted_search_ends(void **state) {
   static const char *const still[] = {"search.operators.step.with.low=0",
                                       "search.operators.step.with.high=0", NULL};
   (void)state;
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, still);
   rkb_run_result_t outcome = run_pipeline(pipeline, NULL, 2, false);
   rkb_pipeline_free(pipeline);
   assert_int_equal(outcome.ending, RKB_ENDED_LIMIT);
   assert_non_null(strstr(outcome.reason, "exhausted"));
   assert_int_equal(outcome.candidates, 3);
   assert_true(outcome.duplicates >= 256);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_broken_tool_is_tried_again),
      cmocka_unit_test(test_tries_end),
      cmocka_unit_test(test_wrong_configuration_is_not_tried_again),
      cmocka_unit_test(test_deadline_cancels),
      cmocka_unit_test(test_hanging_stage_is_written_off),
      cmocka_unit_test(test_grandchildren_are_gone),
      cmocka_unit_test(test_interrupted_run_goes_on),
      cmocka_unit_test(test_wall_ends_a_run),
      cmocka_unit_test(test_waiting_for_ever_ends),
      cmocka_unit_test(test_exhausted_search_ends),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
