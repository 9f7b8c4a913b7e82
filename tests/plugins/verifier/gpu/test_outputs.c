/* What rkb.verifier.gpu makes of the judge's answers: rejected, passed and counted, or refused.  Device and
 * judge are simulated: each row says what the judge answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "gpu.h"

#define ELEMENTS 32

typedef struct answer {
   int status;
   rkb_judgement_t judgement;
} answer_t;

static const answer_t *answer; /* of the row that is being tested */

static int play_judge(const rkb_host_t *host, const rkb_inputs_t *inputs, uint32_t tensor, const void *data,
                      const double *shadow, const rkb_points_t *points, const uint64_t *elements,
                      bool transform, rkb_judgement_t *judgement, rkb_error_t *err) {
   (void)host, (void)inputs, (void)tensor, (void)data, (void)shadow, (void)points, (void)elements,
      (void)transform;
   *judgement = answer->judgement;
   return answer->status == RKB_OK ? RKB_OK : rkb_fail(err, answer->status, "the judge says so");
}

/* Everything that is wanted comes in one request. */
static uint32_t picked;

static int play_pick(rkb_session_t *session, uint32_t instance, const rkb_range_t *ranges, uint32_t count,
                     void *out, rkb_error_t *err) {
   (void)session, (void)instance, (void)err;
   picked++;
   for (char *at = out; count; at += ranges->bytes, ranges++, count--)
      memset(at, (int)ranges->offset, ranges->bytes);
   return RKB_OK;
}

/* What a run left behind has this sum. */
static uint64_t left;

static int play_sums(rkb_session_t *session, uint32_t instance, uint32_t count, const uint32_t *buffers,
                     const uint64_t *keys, uint64_t *sums, rkb_error_t *err) {
   (void)session, (void)instance, (void)buffers, (void)keys, (void)err;
   for (uint32_t i = 0; i < count; i++)
      sums[i] = left;
   return RKB_OK;
}

/* Judges what each run left, the runs' sums given; answers[n] is what the judge says of it. */
static int judge_runs(const answer_t *answers, const uint64_t *sums, uint32_t runs, struct found *found,
                      struct tally *tally) {
   static const struct gpu_config config = {.points = 64, .budget = 1000000000};
   static const rkb_task_api_t task = {.size = sizeof task, .judge = play_judge};
   static const rkb_device_api_t device = {.pick = play_pick, .sums = play_sums};
   const rkb_tensor_t tensor = {
      .name = "y", .role = RKB_OUT, .dtype = RKB_F32, .elements = ELEMENTS, .bytes = 4 * ELEMENTS};
   const rkb_case_t the_case = {
      .name = "check/one", .kind = RKB_CASE_CHECK, .tensor_count = 1, .tensors = &tensor};
   const rkb_family_t family = {.name = "normal"};
   const struct gpu me = {.config = &config, .task = &task, .device = &device};
   uint64_t elements[ELEMENTS];
   double numbers[3 * ELEMENTS] = {0};
   uint8_t flags[ELEMENTS] = {0};
   for (uint64_t n = 0; n < ELEMENTS; n++)
      elements[n] = n;
   rkb_sample_t sample = {.elements = elements, .wanted = ELEMENTS};
   sample.points = (rkb_points_t){numbers, numbers + ELEMENTS, numbers + 2 * ELEMENTS, flags, ELEMENTS};
   uint64_t judged = 0;
   bool right = false;
   struct values values = {.the_case = &the_case,
                           .family = &family,
                           .seed = 1,
                           .samples = &sample,
                           .judged = &judged,
                           .right = &right};
   struct candidate candidate = {0};
   rkb_error_t err;
   int status = RKB_OK;
   for (uint32_t n = 0; n < runs && status == RKB_OK; n++) {
      answer = &answers[n];
      left = sums[n];
      status = outputs_judge(&me, &candidate, &values, 0, found, tally, &err);
   }
   return status;
}

static int judge_with(const answer_t *given, struct found *found, struct tally *tally) {
   return judge_runs(given, &(uint64_t){1}, 1, found, tally);
}

static void a_refusal_is_left_out_and_told(void **state) {
   (void)state;
   const answer_t refusal = {RKB_ERR_LIMIT, {.judged = ELEMENTS, .ambiguous = ELEMENTS, .reason = ""}};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_with(&refusal, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "");
   assert_int_equal(tally.refused, 1);
   assert_string_equal(tally.refusal, "the judge says so");
   assert_int_equal(tally.judged, 0);
   assert_int_equal(judge_with(&refusal, &found, &tally), RKB_OK);
   assert_int_equal(tally.refused, 2);
}

static void other_failures_stay_failures(void **state) {
   (void)state;
   const answer_t broken = {RKB_ERR_NOMEM, {.reason = ""}};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_with(&broken, &found, &tally), RKB_ERR_NOMEM);
   assert_int_equal(tally.refused, 0);
}

static void what_was_taken_on_trust_is_counted(void **state) {
   (void)state;
   const answer_t passed = {RKB_OK,
                            {.judged = 30, .ambiguous = 3, .dont_care = 2, .reason = "", .worst_hard = 0.5}};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_with(&passed, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "");
   assert_int_equal(tally.judged, 30);
   assert_int_equal(tally.ambiguous, 3);
   assert_int_equal(tally.dont_care, 2);
   assert_true(tally.worst_hard == 0.5);
}

static void a_wrong_value_is_found(void **state) {
   (void)state;
   const answer_t wrong = {RKB_OK,
                           {.judged = ELEMENTS,
                            .standing_is_reject = 1,
                            .reason = "numeric.mismatch",
                            .bound_name = "hard",
                            .element = 7,
                            .got = 1,
                            .want = 2,
                            .bound = 0.5,
                            .outside = 1}};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_with(&wrong, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "numeric.mismatch");
   assert_non_null(strstr(found.message, "y[7] is 1 on the GPU and should be 2"));
   json_decref(found.evidence);
}

static const answer_t right = {RKB_OK, {.judged = ELEMENTS, .reason = ""}},
                      off = {RKB_OK,
                             {.judged = ELEMENTS,
                              .standing_is_reject = 1,
                              .reason = "numeric.mismatch",
                              .bound_name = "hard"}},
                      doubtful = {RKB_ERR_LIMIT, {.judged = ELEMENTS, .reason = ""}};

/* In the other placement, or repeated: what was judged and is right is not judged again, anything else is. */
static void equal_bits_are_judged_once(void **state) {
   (void)state;
   const answer_t answers[] = {right, off, right};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_runs(answers, (const uint64_t[]){5, 5, 5}, 3, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "");
   assert_int_equal(tally.judged, ELEMENTS);
}

static void other_bits_are_judged(void **state) {
   (void)state;
   const answer_t answers[] = {right, off};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_runs(answers, (const uint64_t[]){5, 6}, 2, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "numeric.mismatch");
   json_decref(found.evidence);
}

static void what_was_not_decided_is_judged_again(void **state) {
   (void)state;
   const answer_t answers[] = {doubtful, off};
   struct found found = {.reason = ""};
   struct tally tally = {0};
   assert_int_equal(judge_runs(answers, (const uint64_t[]){5, 5}, 2, &found, &tally), RKB_OK);
   assert_string_equal(found.reason, "numeric.mismatch");
   json_decref(found.evidence);
}

/* Runs of neighbours, of several outputs, in the order of the samples. */
static void chosen_elements_are_read_in_one_request(void **state) {
   (void)state;
   uint64_t first[] = {0, 1, 2, 9, 4, 5}, second[] = {3};
   const rkb_sample_t samples[] = {{.elements = first, .points.count = 6},
                                   {.elements = second, .points.count = 1}};
   const rkb_device_api_t device = {.pick = play_pick};
   reading_t readings[] = {{1, 2, &samples[0], NULL}, {4, 8, &samples[1], NULL}};
   char *block = NULL;
   rkb_error_t err;
   picked = 0;
   assert_int_equal(readings_take(&device, NULL, 0, readings, 2, &block, &err), RKB_OK);
   assert_int_equal(picked, 1);
   const char expected[] = {0, 0, 0, 0, 0, 0, 18, 18, 8, 8, 8, 8, 24, 24, 24, 24, 24, 24, 24, 24};
   assert_memory_equal(readings[0].data, expected, sizeof expected);
   assert_ptr_equal(readings[1].data, readings[0].data + 12);
   free(block);
}

int main(void) {
   const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_refusal_is_left_out_and_told),
      cmocka_unit_test(other_failures_stay_failures),
      cmocka_unit_test(what_was_taken_on_trust_is_counted),
      cmocka_unit_test(a_wrong_value_is_found),
      cmocka_unit_test(equal_bits_are_judged_once),
      cmocka_unit_test(other_bits_are_judged),
      cmocka_unit_test(what_was_not_decided_is_judged_again),
      cmocka_unit_test(chosen_elements_are_read_in_one_request),
   };
   return RUN_TESTS(tests);
}
