/* What passes from stage to stage: verdicts, unknowns, shadow, only and sample, stages side by side, promotion. */
#include "run_harness.h"

#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                                 \
   "rkb: 1\npropose:\n  - use: test.translator.start\n    with: {values: [\"6\", \"10\", \"15\", \"7\"]}\n"

static void run_screen(const char *scratch, const char *rest) {
   char text[4096];
   snprintf(text, sizeof text, HEAD "%s", rest);
   rkb_pipeline_t *pipeline = open_text(scratch, "gate.yaml", text, NULL);
   run_pipeline(pipeline, scratch, 3, false);
   rkb_pipeline_free(pipeline);
}

/* Candidates are 1: 6, 2: 10, 3: 15, 4: 7. */
static void test_reject_stops(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.divide, id: two, with: {by: 2}}\n"
                   "  - {use: test.verifier.divide, id: three, with: {by: 3}}\n");
   assert_string_equal(verdict_of(run, 1, "two"), "reject numeric.mismatch");
   assert_string_equal(verdict_of(run, 1, "three"), "");
   assert_string_equal(verdict_of(run, 3, "two"), "accept");
   assert_string_equal(verdict_of(run, 3, "three"), "reject numeric.mismatch");
   assert_string_equal(standing_of(run, 4), "accept");
   scratch_remove(run);
}

static void test_unknown_passes_unless_told_to_stop(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(
      run,
      "screen:\n"
      "  - {use: test.verifier.divide, id: two, with: {by: 2, verdict: unknown, reason: unsupported.even}}\n"
      "  - {use: test.verifier.divide, id: five, with: {by: 5, verdict: unknown, reason: unsupported.five}, "
      "on_unknown: stop}\n"
      "  - {use: test.verifier.divide, id: last}\n");
   assert_string_equal(verdict_of(run, 1, "last"), "accept");
   assert_string_equal(standing_of(run, 1), "unknown");
   assert_string_equal(verdict_of(run, 2, "last"), "");
   assert_string_equal(verdict_of(run, 3, "last"), "");
   assert_string_equal(standing_of(run, 4), "accept");
   scratch_remove(run);
}

static void test_execution_has_the_last_word(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(
      run,
      "screen:\n"
      "  - {use: test.verifier.divide, id: odd, with: {by: 2, verdict: suspect, reason: lint.even}}\n"
      "  - {use: test.verifier.execute, id: run, with: {by: 5, verdict: unknown, reason: unsupported.five}}\n"
      "  - {use: test.verifier.divide, id: late, with: {by: 3, verdict: suspect, reason: lint.three}}\n");
   assert_string_equal(standing_of(run, 1), "suspect"); /* 6: accepted by execution, then suspect again */
   assert_string_equal(standing_of(run, 2), "unknown"); /* 10: what was suspect could not be decided */
   assert_string_equal(standing_of(run, 4), "accept");
   scratch_remove(run);
}

static void test_shadow_decides_nothing(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.divide, id: two, with: {by: 2}, shadow: true}\n"
                   "  - {use: test.verifier.divide, id: last}\n");
   assert_string_equal(verdict_of(run, 1, "two"), "reject numeric.mismatch shadow");
   assert_string_equal(verdict_of(run, 1, "last"), "accept");
   assert_string_equal(standing_of(run, 1), "accept");
   scratch_remove(run);
}

static void test_only_and_sample(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run,
              "screen:\n"
              "  - {use: test.verifier.divide, id: two, with: {by: 2, verdict: suspect, reason: lint.even}}\n"
              "  - {use: test.verifier.divide, id: never, only: [suspect]}\n"
              "  - {use: test.verifier.divide, id: always, with: {by: 5}, only: [suspect], sample: 1}\n");
   assert_string_equal(verdict_of(run, 1, "never"), "accept");
   assert_string_equal(verdict_of(run, 4, "never"), "");
   assert_string_equal(verdict_of(run, 2, "always"), "reject numeric.mismatch");
   assert_string_equal(verdict_of(run, 3, "always"), "reject numeric.mismatch shadow");
   assert_string_equal(standing_of(run, 3), "accept");
   scratch_remove(run);
}

/* If two entries run in parallel, both are recorded whichever is faster, and an entry that needs both runs only if neither stopped
 * the candidate. */
static void test_side_by_side(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.divide, id: two, with: {by: 2, hold_us: 2000}}\n"
                   "  - {use: test.verifier.divide, id: three, with: {by: 3}, needs: []}\n"
                   "  - {use: test.verifier.later, needs: [two, three]}\n");
   assert_string_equal(verdict_of(run, 1, "two"), "reject numeric.mismatch");
   assert_string_equal(verdict_of(run, 1, "three"), "reject numeric.mismatch");
   assert_string_equal(verdict_of(run, 2, "three"), "accept");
   assert_string_equal(verdict_of(run, 2, "later"), "");
   assert_string_equal(verdict_of(run, 4, "later"), "accept");
   scratch_remove(run);
}

static void test_promotion_keeps_the_best(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.divide, id: two, with: {by: 5}}\n"
                   "  - {use: test.profiler.distance, id: near, with: {target: 7}}\n"
                   "promote: {keep: 1, of: 1, by: near.distance}\n"
                   "evaluate:\n  - {use: test.verifier.divide, id: deep}\n");
   assert_string_equal(verdict_of(run, 1, "deep"), "");
   assert_string_equal(verdict_of(run, 2, "deep"), "");
   assert_string_equal(verdict_of(run, 4, "deep"), "accept");
   scratch_remove(run);
}

static void test_evaluation_without_promotion_takes_all(void **state) {
   char *run = scratch_make();
   (void)state;
   run_screen(run, "screen:\n  - {use: test.verifier.divide, id: two, with: {by: 5}}\n"
                   "evaluate:\n  - {use: test.verifier.divide, id: deep}\n");
   assert_string_equal(verdict_of(run, 1, "deep"), "accept");
   assert_string_equal(verdict_of(run, 2, "deep"), "");
   assert_string_equal(verdict_of(run, 4, "deep"), "accept");
   scratch_remove(run);
}

static void test_duplicates_are_told_apart(void **state) {
   char *run = scratch_make();
   (void)state;
   rkb_pipeline_t *pipeline =
      open_text(run, "gate.yaml",
                "rkb: 1\npropose:\n  - use: test.translator.start\n    requests: 2\n"
                "    with: {values: [\"6\", \"10\"]}\nscreen:\n  - {use: test.verifier.divide}\n",
                NULL);
   rkb_run_result_t outcome = run_pipeline(pipeline, run, 2, false);
   rkb_pipeline_free(pipeline);
   assert_int_equal(outcome.candidates, 2);
   assert_int_equal(outcome.duplicates, 2);
   assert_string_equal(verdict_of(run, 3, "divide"), "");
   scratch_remove(run);
}

static void test_check_gives_verdicts_and_measurements(void **state) {
   char *scratch = scratch_make();
   rkb_check_result_t *result = NULL;
   rkb_error_t err = {0};
   (void)state;
   rkb_pipeline_t *pipeline =
      open_text(scratch, "check.yaml",
                "rkb: 1\nscreen:\n  - {use: test.verifier.divide, id: lint}\n"
                "  - {use: test.verifier.execute, id: run, with: {by: 4}}\n"
                "  - {use: test.profiler.distance, needs: [lint], with: {target: 10}}\n",
                NULL);
   rkb_log_t *log = quiet_log();
   rkb_check_options_t options = {.name = "a number", .source = "8", .log = log};
   assert_int_equal(rkb_check(pipeline, &options, &result, &err), RKB_OK);
   assert_string_equal(result->standing, "reject");
   assert_string_equal(result->reason, "numeric.mismatch");
   assert_int_equal(result->verdict_count, 2);
   assert_string_equal(result->verdicts[1].message, "8 is divisible by 4");
   assert_non_null(result->verdicts[1].evidence);
   assert_true(result->verified_by_execution);
   assert_int_equal(result->measurement_count, 1);
   assert_string_equal(result->measurements[0].name, "distance.distance");
   assert_true(result->measurements[0].value == 3);
   rkb_check_result_free(result);
   rkb_pipeline_free(pipeline);
   rkb_log_close(log);
   scratch_remove(scratch);
}

/* Distances are |n - target| + 1; the best first candidate is 15. */
static rkb_run_result_t search_within(int target) {
   char *scratch = scratch_make();
   char text[4096];
   snprintf(text, sizeof text,
            HEAD "objective: {minimise: [near.distance], least: floor.distance}\nlimits: {candidates: 30, within: 0.2}\n"
                 "screen:\n  - {use: test.verifier.execute, with: {by: 11}}\n"
                 "  - {use: test.profiler.distance, id: near, with: {target: 1000}}\n"
                 "  - {use: test.profiler.distance, id: floor, with: {target: %d}}\n"
                 "search:\n  use: test.strategy.climb\n  operators:\n    - {use: test.mutator.step, with: {low: 1, high: 9}}\n",
            target);
   rkb_pipeline_t *pipeline = open_text(scratch, "within.yaml", text, NULL);
   rkb_run_result_t outcome = run_pipeline(pipeline, scratch, 2, false);
   rkb_pipeline_free(pipeline);
   scratch_remove(scratch);
   return outcome;
}

static void test_close_to_the_least(void **state) {
   (void)state;
   /* 986 is at most 1.2 times 866, but not 1.2 times 786. */
   const rkb_run_result_t close = search_within(880), far = search_within(800);
   assert_non_null(strstr(close.reason, "limits.within (0.2): the best is 13.9 % above"));
   assert_int_equal(close.candidates, 4);
   assert_non_null(strstr(far.reason, "limits.candidates"));
   assert_true(far.candidates >= 30);
}

/* Such a verifier never gives a usable answer.  If it sometimes does, the fault may be the candidates'. */
static void test_contract_never_kept(void **state) {
   static const struct {
      const char *failures;
      int status;
   } cases[] = {{"1000", RKB_ERR_CONTRACT}, {"8", RKB_ERR_CONTRACT}, {"7", RKB_OK}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      char *scratch = scratch_make(), text[1024];
      rkb_run_result_t outcome;
      rkb_error_t err = {0};
      rkb_log_t *log = quiet_log();
      snprintf(text, sizeof text,
               "rkb: 1\npropose:\n  - use: test.translator.start\n"
               "    with: {values: [\"1\", \"2\", \"3\", \"4\", \"5\", \"6\", \"7\", \"8\", \"9\", \"11\"]}\n"
               "screen:\n  - {use: test.verifier.mute, with: {failures: %s}}\n",
               cases[i].failures);
      rkb_pipeline_t *pipeline = open_text(scratch, "mute.yaml", text, NULL);
      const rkb_run_options_t options = {.directory = scratch, .jobs = 1, .log = log};
      assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), cases[i].status);
      if (cases[i].status != RKB_OK)
         assert_non_null(strstr(err.message, "mute (test.verifier.mute) broke the contract on each of its first 8 "));
      else
         assert_string_equal(standing_of(scratch, 8), "accept");
      rkb_pipeline_free(pipeline);
      rkb_log_close(log);
      scratch_remove(scratch);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reject_stops), cmocka_unit_test(test_contract_never_kept),
      cmocka_unit_test(test_unknown_passes_unless_told_to_stop),
      cmocka_unit_test(test_execution_has_the_last_word),
      cmocka_unit_test(test_shadow_decides_nothing),
      cmocka_unit_test(test_only_and_sample),
      cmocka_unit_test(test_side_by_side),
      cmocka_unit_test(test_promotion_keeps_the_best),
      cmocka_unit_test(test_evaluation_without_promotion_takes_all),
      cmocka_unit_test(test_duplicates_are_told_apart),
      cmocka_unit_test(test_check_gives_verdicts_and_measurements),
      cmocka_unit_test(test_close_to_the_least),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
