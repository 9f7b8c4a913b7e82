/* What an observer may rely on, whatever the number of workers and however long each stage takes: events come one at a
 * time, and in an order that follows from the pipeline. */
#include "run_harness.h"

#include <stdlib.h>
#include <string.h>

#define CLIMB RKB_SOURCE_DIR "/tests/run/climb.yaml"
#define WINDOW 8
#define PROMOTE_OF 4
enum { MOST_REQUESTS = 4096, MOST_CANDIDATES = 8192 };

typedef struct candidate {
   bool numbered, ended;
   uint32_t running; /* stages that began and have not ended */
   int64_t request;
   uint32_t section;
} candidate_t;

typedef struct watch {
   uint64_t events;
   bool inside;                 /* the observer runs */
   int64_t asked[3], closed[3]; /* by section: requests so far, and those told */
   int64_t groups;              /* search groups closed, in any order: a later one may be faster */
   bool closed_group[MOST_REQUESTS / PROMOTE_OF];
   bool propose_group; /* the propose section's group closed */
   int64_t numbered;
   candidate_t candidates[MOST_CANDIDATES + 1];
} watch_t;

static void check_request(watch_t *watch, const rkb_event_t *event) {
   assert_int_equal(event->request, watch->asked[event->section]++);
   assert_true(event->request < MOST_REQUESTS);
   if (event->section != RKB_SECTION_SEARCH)
      return;
   /* Request n is asked when the strategy has received all requests up to n - window and no later one. */
   int64_t heard = event->request < WINDOW ? 0 : event->request - WINDOW + 1;
   assert_int_equal(watch->closed[RKB_SECTION_PROPOSE], watch->asked[RKB_SECTION_PROPOSE]);
   assert_int_equal(watch->closed[RKB_SECTION_SEARCH], heard);
   assert_int_equal(event->told, (uint64_t)(watch->closed[RKB_SECTION_PROPOSE] + heard));
}

static void check_candidate(watch_t *watch, const rkb_event_t *event) {
   assert_int_equal(event->candidate, ++watch->numbered);
   assert_true(event->candidate <= MOST_CANDIDATES);
   assert_true(event->duplicate_of < event->candidate);
   assert_true(event->request >= watch->closed[event->section]); /* not told yet */
   watch->candidates[event->candidate] =
      (candidate_t){.numbered = true, .request = event->request, .section = event->section};
}

static bool group_is_closed(const watch_t *watch, const candidate_t *candidate) {
   if (candidate->section == RKB_SECTION_PROPOSE)
      return watch->propose_group;
   return watch->closed_group[candidate->request / PROMOTE_OF];
}

static void check_stage(watch_t *watch, const rkb_event_t *event) {
   if (!event->candidate)
      return; /* an operator's job */
   candidate_t *candidate = &watch->candidates[event->candidate];
   assert_true(candidate->numbered);
   if (event->kind == RKB_EVENT_STAGE_START) {
      candidate->running++;
      /* An evaluation begins only for what was promoted. */
      assert_int_equal(group_is_closed(watch, candidate), strcmp(event->entry, "time") == 0);
   } else {
      assert_true(candidate->running > 0);
      candidate->running--;
   }
}

static void check_candidate_end(watch_t *watch, const rkb_event_t *event) {
   candidate_t *candidate = &watch->candidates[event->candidate];
   assert_true(candidate->numbered);
   assert_int_equal(candidate->running, 0);
   candidate->ended = true;
}

static void check_group(watch_t *watch, const rkb_event_t *event) {
   bool search = event->section == RKB_SECTION_SEARCH;
   bool *closed = search ? &watch->closed_group[event->request / PROMOTE_OF] : &watch->propose_group;
   assert_false(*closed);
   *closed = true;
   watch->groups += search;
   /* All its candidates are through the screen. */
   for (int64_t i = 1; i <= watch->numbered; i++)
      if (watch->candidates[i].section == event->section && group_is_closed(watch, &watch->candidates[i]))
         assert_true(watch->candidates[i].ended);
}

static void check_request_end(watch_t *watch, const rkb_event_t *event) {
   assert_int_equal(event->request, watch->closed[event->section]++);
   for (int64_t i = 1; i <= watch->numbered; i++)
      if (watch->candidates[i].section == event->section && watch->candidates[i].request == event->request)
         assert_true(watch->candidates[i].ended && !watch->candidates[i].running);
}

static void observe(void *argument, const rkb_event_t *event) {
   watch_t *watch = argument;
   assert_false(watch->inside);
   watch->inside = true;
   watch->events++;
   switch (event->kind) {
   case RKB_EVENT_REQUEST:
      check_request(watch, event);
      break;
   case RKB_EVENT_CANDIDATE:
      check_candidate(watch, event);
      break;
   case RKB_EVENT_STAGE_START:
   case RKB_EVENT_STAGE_END:
      check_stage(watch, event);
      break;
   case RKB_EVENT_CANDIDATE_END:
      check_candidate_end(watch, event);
      break;
   case RKB_EVENT_GROUP:
      check_group(watch, event);
      break;
   case RKB_EVENT_REQUEST_END:
      check_request_end(watch, event);
      break;
   default:
      break;
   }
   watch->inside = false;
}

static void watch_run(const char *const *set, const char *directory, bool resume, uint32_t jobs) {
   watch_t *watch = calloc(1, sizeof *watch);
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, set);
   rkb_log_t *log = quiet_log();
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   rkb_run_options_t options = {.directory = directory,
                                .resume = resume,
                                .jobs = jobs,
                                .secret = &rkb_secret_published,
                                .log = log,
                                .observe = observe,
                                .argument = watch};
   assert_non_null(watch);
   assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_OK);
   assert_int_equal(watch->asked[RKB_SECTION_SEARCH], watch->closed[RKB_SECTION_SEARCH]);
   assert_int_equal(watch->closed[RKB_SECTION_PROPOSE] + watch->closed[RKB_SECTION_SEARCH], outcome.told);
   assert_int_equal(watch->numbered, outcome.candidates + outcome.duplicates);
   assert_int_equal(watch->groups * PROMOTE_OF, watch->closed[RKB_SECTION_SEARCH]);
   assert_true(watch->events > 500);
   rkb_log_close(log);
   rkb_pipeline_free(pipeline);
   free(watch);
}

static void test_events_follow_the_pipeline(void **state) {
   static const char *const slow[] = {"screen.divide.with.hold_us=200",
                                      "search.operators.step.with.hold_us=300", NULL};
   static const char *const waits[] = {"search.with.wait_every=3", NULL};
   static const char *const rejects[] = {"screen.divide.with.by=2", "screen.execute.with.by=3", NULL};
   /* No candidate is unknown, so each evaluation is over before the call that begins it returns. */
   static const char *const skips[] = {"evaluate.time.only=[unknown]", NULL};
   static const char *const *const sets[] = {NULL, slow, waits, rejects, skips};
   (void)state;
   for (uint32_t i = 0; i < sizeof sets / sizeof sets[0]; i++)
      for (uint32_t jobs = 1; jobs <= 4; jobs *= 2)
         watch_run(sets[i], NULL, false, jobs);
}

typedef struct half {
   bool begun[MOST_CANDIDATES + 1];
   uint32_t now; /* candidates of which a stage has ended and another has not */
   uint64_t sum, ends;
} half_t;

static void observe_half_screened(void *argument, const rkb_event_t *event) {
   half_t *half = argument;
   if (event->kind == RKB_EVENT_CANDIDATE_END && event->candidate <= MOST_CANDIDATES &&
       half->begun[event->candidate]) {
      half->begun[event->candidate] = false;
      half->now--;
   }
   if (event->kind != RKB_EVENT_STAGE_END || !event->candidate)
      return;
   assert_true(event->candidate <= MOST_CANDIDATES);
   half->now += !half->begun[event->candidate];
   half->begun[event->candidate] = true;
   half->sum += half->now;
   half->ends++;
}

/* However wide the window is, the earliest candidates are finished before later ones are begun.  So a run
 * that is cut off has verdicts for most candidates that it began.  A loop that is late once changes the mean
 * little. */
static void test_the_earliest_candidates_are_finished_first(void **state) {
   static const char *const wide[] = {"search.window=64",
                                      "promote.of=1",
                                      "promote.keep=1",
                                      "screen.divide.with.hold_us=500",
                                      "screen.execute.with.hold_us=500",
                                      NULL};
   half_t *half = calloc(1, sizeof *half);
   rkb_pipeline_t *pipeline = open_pipeline(CLIMB, wide);
   rkb_log_t *log = quiet_log();
   rkb_run_result_t outcome;
   rkb_error_t err = {0};
   const rkb_run_options_t options = {.jobs = 1,
                                      .secret = &rkb_secret_published,
                                      .log = log,
                                      .observe = observe_half_screened,
                                      .argument = half};
   (void)state;
   assert_int_equal(rkb_run(pipeline, &options, &outcome, &err), RKB_OK);
   assert_true(half->ends > 100);
   assert_true(half->sum < 8 * half->ends);
   rkb_log_close(log);
   rkb_pipeline_free(pipeline);
   free(half);
}

/* A resumed run sends the events of archived results in the same order. */
static void test_events_of_a_resumed_run(void **state) {
   static const char *const few[] = {"limits.candidates=60", NULL};
   char *scratch = scratch_make();
   (void)state;
   watch_run(few, scratch, false, 2);
   watch_run(NULL, scratch, true, 2);
   scratch_remove(scratch);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_events_follow_the_pipeline),
      cmocka_unit_test(test_the_earliest_candidates_are_finished_first),
      cmocka_unit_test(test_events_of_a_resumed_run),
   };
   return cmocka_run_group_tests(tests, NULL, NULL);
}
