/* Equal runs compare equal whatever their times; every other difference is named. */
#include "check.h"
#include "sample_records.h"

#include <stdlib.h>
#include <string.h>

enum { CANDIDATES = 4 };

typedef struct said {
   char text[4096];
} said_t;

static void keep(void *argument, const char *line) {
   said_t *said = argument;
   snprintf(said->text + strlen(said->text), sizeof said->text - strlen(said->text), "%s\n", line);
}

/* What one side does differently to candidate 3. */
typedef void (*change_t)(sample_candidate_t *sample, rkb_request_record_t *request);

static rkb_archive_t *build(const char *directory, change_t change, const char *told) {
   rkb_error_t err;
   rkb_run_identity_t identity = sample_identity();
   rkb_archive_t *archive = NULL;
   assert_ok(rkb_archive_create(directory, &identity, &archive, &err));
   for (int64_t number = 1; number <= CANDIDATES; number++) {
      sample_candidate_t sample;
      rkb_request_record_t request = sample_request(number - 1, RKB_REQUEST_FINISHED);
      const rkb_candidate_record_t *candidates[] = {&sample.record};
      sample_candidate(&sample, number);
      if (number == 3 && change)
         change(&sample, &request);
      assert_ok(rkb_archive_put_screened(archive, &request, candidates, sample.record.number ? 1 : 0, &err));
      assert_ok(
         rkb_archive_put_tell(archive, RKB_SECTION_SEARCH, number - 1, number == 3 ? told : "same", &err));
   }
   assert_ok(rkb_archive_put_event(archive, RKB_LOG_INFO, "test", "made", 0, directory, NULL, &err));
   return archive;
}

static void change_times(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->verdicts[0].seconds = 99;
   sample->verdicts[0].attempts = 2;
   sample->measurements[1].reproducible = false; /* a timed one, and on one side only */
   sample->measurements[1].value = 77;
}
static void time_it(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->measurements[1].reproducible = false;
}
static void time_it_again(sample_candidate_t *sample, rkb_request_record_t *request) {
   time_it(sample, request);
   sample->measurements[1].value = 77;
}
static void change_standing(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->record.standing = "reject";
   sample->verdicts[2].reason = "race.shared";
}
static void change_value(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->measurements[4].value += 1e-15;
}
static void change_hints(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)sample;
   request->hints = NULL;
}
static void meet_limit(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->verdicts[1].standing = "reject";
   sample->verdicts[1].reason = "limit.time";
   sample->verdicts[1].reproducible = false;
}
static void drop_candidate(sample_candidate_t *sample, rkb_request_record_t *request) {
   (void)request;
   sample->record.number = 0;
}

typedef struct compare_case {
   change_t change;
   int64_t differences;
   const char *says;
   int64_t limited;
} compare_case_t;

static void differences_are_named(void **state) {
   static const compare_case_t cases[] = {
      {NULL, 0, "", 0},
      {change_times, 2,
       "dialogue 3: hash is this in the first, nothing in the second\nmeasurement of candidate 3, build.spills: only in the first\n",
       0},
      {change_standing, 2,
       "candidate 3: standing is accept in the first, reject in the second\n"
       "verdict on candidate 3, machine: reason is  in the first, race.shared in the second\n",
       0},
      {change_value, 1,
       "measurement of candidate 3, model.predicted_us: value is 0.42857142857142855 in the first, "
       "0.42857142857142955 in the second\n",
       0},
      {change_hints, 1, "request search, 2: hints is {\"island\":1} in the first, nothing in the second\n",
       0},
      {meet_limit, 1, "verdict on candidate 3, build: only in the first\n", 3},
      {drop_candidate, 11, "candidate 3: only in the first\n", 0},
   };
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_error_t err;
      said_t said = {.text = ""};
      rkb_archive_difference_t result;
      char *first = sample_directory("first"), *second = sample_directory("second");
      rkb_archive_t *left = build(first, NULL, "this"), *right = build(second, cases[i].change, "this");
      assert_ok(rkb_archive_compare(left, right, 100, keep, &said, &result, &err));
      if (strncmp(said.text, cases[i].says, strlen(cases[i].says)) != 0)
         fail_msg("case %zu: wanted\n%sgot\n%s", i, cases[i].says, said.text);
      assert_int_equal(result.differences, cases[i].differences);
      assert_true(result.compared > CANDIDATES * 10);
      assert_int_equal(result.left_out,
                       cases[i].change == change_times || cases[i].change == meet_limit ? 1 : 0);
      assert_int_equal(result.limited, cases[i].limited);
      assert_int_equal(result.limited_side, cases[i].limited ? 1 : 0);
      rkb_archive_close(left);
      rkb_archive_close(right);
      sample_remove(first);
      sample_remove(second);
   }
}

static void the_limit_holds(void **state) {
   rkb_error_t err;
   said_t said = {.text = ""};
   rkb_archive_difference_t result;
   char *first = sample_directory("first"), *second = sample_directory("second");
   rkb_archive_t *left = build(first, NULL, "this"), *right = build(second, drop_candidate, "this");
   (void)state;
   assert_ok(rkb_archive_compare(left, right, 1, keep, &said, &result, &err));
   assert_string_equal(said.text, "candidate 3: only in the first\n");
   assert_int_equal(result.differences, 11);
   rkb_archive_close(left);
   rkb_archive_close(right);
   sample_remove(first);
   sample_remove(second);
}

/* What the strategy was told differs where a time was measured, and that is no difference of the runs. */
static void what_was_told_of_times_is_left_out(void **state) {
   const struct {
      change_t first, second;
      int64_t differences;
   } cases[] = {{time_it, time_it_again, 0}, {NULL, NULL, 1}};
   (void)state;
   for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
      rkb_error_t err;
      said_t said = {.text = ""};
      rkb_archive_difference_t result;
      char *first = sample_directory("first"), *second = sample_directory("second");
      rkb_archive_t *left = build(first, cases[i].first, "this"),
                    *right = build(second, cases[i].second, "that");
      assert_ok(rkb_archive_compare(left, right, 100, keep, &said, &result, &err));
      assert_string_equal(said.text, cases[i].differences
                                        ? "dialogue 3: hash is this in the first, that in the second\n"
                                        : "");
      assert_int_equal(result.differences, cases[i].differences);
      rkb_archive_close(left);
      rkb_archive_close(right);
      sample_remove(first);
      sample_remove(second);
   }
}

int main(void) {
   const struct CMUnitTest tests[] = {cmocka_unit_test(differences_are_named),
                                      cmocka_unit_test(the_limit_holds),
                                      cmocka_unit_test(what_was_told_of_times_is_left_out)};
   return RUN_TESTS(tests);
}
