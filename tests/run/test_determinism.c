/* The same seed gives the same archive: whatever the number of workers, and wherever the run was killed and resumed. */
#include "run_harness.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/file.h"

#define CLIMB RKB_SOURCE_DIR "/tests/run/climb.yaml"
/* RKB_KILLS in the environment asks for another number: the target check-kills. */
#ifdef __SANITIZE_ADDRESS__
#define KILLS 8
#else
#define KILLS 20
#endif
#define MOST_EVENTS 400 /* of the thousand or so that a whole run tells of */

/* Work takes a while, and not the same while for each, so that order of finishing differs from order of asking. */
static const char *const SLOWER[] = {"screen.divide.with.hold_us=200",
                                     "search.operators.step.with.hold_us=300", NULL};
/* Operators that promise nothing have their candidates kept before screening. */
static const char *const UNPROMISED[] = {"screen.divide.with.hold_us=200", "search.operators.step.id=step",
                                         "search.operators.step.use=test.mutator.leap", NULL};

static char *run_into(const char *scratch, const char *name, const char *const *set, uint32_t jobs) {
   char *directory = rkb_path_join(scratch, name);
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
   rkb_run_result_t outcome = run_pipeline(pipeline, directory, jobs, false);
   assert_int_equal(outcome.ending, RKB_ENDED_LIMIT);
   assert_true(outcome.candidates >= 120);
   rkb_pipeline_free(pipeline);
   return directory;
}

static void test_jobs_make_no_difference(void **state) {
   char *scratch = scratch_make();
   (void)state;
   char *one = run_into(scratch, "one", SLOWER, 1), *four = run_into(scratch, "four", SLOWER, 4);
   assert_same_runs(one, four);
   free(one);
   free(four);
   scratch_remove(scratch);
}

static void test_seed_makes_a_difference(void **state) {
   static const char *const other[] = {"seed=8", NULL};
   char *scratch = scratch_make();
   (void)state;
   char *first = run_into(scratch, "first", NULL, 2), *second = run_into(scratch, "second", other, 2);
   rkb_archive_t *a = NULL, *b = NULL;
   rkb_archive_difference_t difference;
   rkb_error_t err = {0};
   assert_int_equal(rkb_archive_open(first, &a, &err), RKB_OK);
   assert_int_equal(rkb_archive_open(second, &b, &err), RKB_OK);
   assert_int_equal(rkb_archive_compare(a, b, 0, NULL, NULL, &difference, &err), RKB_OK);
   assert_true(difference.differences > 0);
   rkb_archive_close(a);
   rkb_archive_close(b);
   free(first);
   free(second);
   scratch_remove(scratch);
}

static void tell_parent(void *argument, const rkb_event_t *event) {
   const int *pipe = argument;
   (void)event;
   if (write(*pipe, "!", 1) != 1)
      _exit(1);
}

/* Runs in a process of its own, which is killed as soon as it has reported so many events.  The loop and the
 * workers go on until the signal arrives, so it meets them anywhere. */
static void run_and_die(const char *directory, const char *const *set, bool resume, int events) {
   int told[2], how;
   char byte;
   assert_int_equal(pipe(told), 0);
   pid_t child = fork();
   assert_true(child >= 0);
   if (child == 0) {
      rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
      rkb_run_result_t outcome;
      rkb_error_t err = {0};
      rkb_run_options_t options = {.directory = directory,
                                   .resume = resume,
                                   .jobs = 3,
                                   .secret = &rkb_secret_published,
                                   .log = quiet_log(),
                                   .observe = tell_parent,
                                   .argument = &told[1]};
      close(told[0]);
      assert_int_equal(rkb_make_directories(directory, &err), RKB_OK);
      rkb_run(pipeline, &options, &outcome, &err);
      _exit(0);
   }
   close(told[1]);
   while (events > 0 && read(told[0], &byte, 1) == 1)
      events--;
   kill(child, SIGKILL);
   assert_int_equal(waitpid(child, &how, 0), child);
   close(told[0]);
}

static int wanted_kills(void) {
   const char *asked = getenv("RKB_KILLS");
   int kills = asked ? atoi(asked) : KILLS;
   assert_true(kills > 0);
   return kills;
}

static void kill_and_resume(const char *const *set) {
   char *scratch = scratch_make();
   char *whole = run_into(scratch, "whole", set, 2);
   unsigned int chance = 12345;
   const int kills = wanted_kills();
   for (int i = 0; i < kills; i++) {
      char name[32];
      snprintf(name, sizeof name, "killed%d", i);
      char *directory = rkb_path_join(scratch, name);
      run_and_die(directory, set, false, rand_r(&chance) % MOST_EVENTS);
      if (i % 2)
         run_and_die(directory, set, true, rand_r(&chance) % MOST_EVENTS);
      rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
      run_pipeline(pipeline, directory, 4, true);
      rkb_pipeline_free(pipeline);
      assert_same_runs(whole, directory);
      free(directory);
   }
   free(whole);
   scratch_remove(scratch);
}

static void test_killed_runs_end_the_same(void **state) {
   (void)state;
   kill_and_resume(SLOWER);
}

static void test_killed_runs_without_promises_end_the_same(void **state) {
   (void)state;
   kill_and_resume(UNPROMISED);
}

/* A limit met earlier leaves a prefix: resumed with the larger limit, it becomes the longer run. */
static void test_shorter_run_is_a_prefix(void **state) {
   static const char *const few[] = {"limits.candidates=40", NULL};
   char *scratch = scratch_make();
   (void)state;
   char *whole = run_into(scratch, "whole", NULL, 2), *directory = rkb_path_join(scratch, "short");
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, few);
   rkb_run_result_t outcome = run_pipeline(pipeline, directory, 2, false);
   assert_true(outcome.candidates >= 40 && outcome.candidates < 100);
   rkb_pipeline_free(pipeline);
   pipeline = open_pipeline(CLIMB, NULL);
   run_pipeline(pipeline, directory, 2, true);
   rkb_pipeline_free(pipeline);
   assert_same_runs(whole, directory);
   free(whole);
   free(directory);
   scratch_remove(scratch);
}

/* An ended run is resumed: nothing is left to do, and its archive does not change. */
static void end_and_resume(const char *const *set, uint32_t ending) {
   char *scratch = scratch_make();
   char *whole = rkb_path_join(scratch, "whole"), *directory = rkb_path_join(scratch, "again");
   for (int n = 0; n < 3; n++) {
      rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
      assert_int_equal(run_pipeline(pipeline, n == 0 ? whole : directory, 2, n == 2).ending, ending);
      rkb_pipeline_free(pipeline);
   }
   assert_same_runs(whole, directory);
   free(whole);
   free(directory);
   scratch_remove(scratch);
}

/* Requests without an operator: the strategy says that it is done, or waits, and empty ones fill the promote group. */
static void test_ended_runs_can_be_resumed(void **state) {
   static const char *const done[] = {"search.with.done_after=33", NULL};
   static const char *const done_in_a_group[] = {"search.with.done_after=36", NULL};
   static const char *const waits[] = {"search.with.wait_every=3", NULL};
   (void)state;
   end_and_resume(done, RKB_ENDED_DONE);
   end_and_resume(done_in_a_group, RKB_ENDED_DONE);
   end_and_resume(waits, RKB_ENDED_LIMIT);
}

static void test_changed_pipeline_is_refused(void **state) {
   static const char *const other[] = {"screen.divide.with.by=5", NULL};
   char *scratch = scratch_make();
   (void)state;
   char *directory = run_into(scratch, "run", NULL, 1);
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, other);
   rkb_log_t *log = quiet_log();
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   rkb_run_options_t options = {.directory = directory, .resume = true, .log = log};
   assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_ERR_INVALID);
   assert_non_null(strstr(err.message, "the pipeline was"));
   rkb_pipeline_free(pipeline);
   rkb_log_close(log);
   free(directory);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_jobs_make_no_difference),
      cmocka_unit_test(test_seed_makes_a_difference),
      cmocka_unit_test(test_killed_runs_end_the_same),
      cmocka_unit_test(test_killed_runs_without_promises_end_the_same),
      cmocka_unit_test(test_shorter_run_is_a_prefix),
      cmocka_unit_test(test_ended_runs_can_be_resumed),
      cmocka_unit_test(test_changed_pipeline_is_refused),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
